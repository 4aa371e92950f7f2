//! A path tracer: spheres of three materials, by a ray for each pixel and sample.

use core::ops::{Add, Mul, Sub};
// On the host these functions are `std`'s.
#[cfg(target_os = "cuda")]
use cuda_tiles::cuda_std::GpuFloat;
use cuda_tiles::cuda_std::prelude::*;

/// A point, a direction or a colour.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Vector(pub f32, pub f32, pub f32);

impl Vector {
    fn zip(self, other: Self, combine: impl Fn(f32, f32) -> f32) -> Self {
        Self(combine(self.0, other.0), combine(self.1, other.1), combine(self.2, other.2))
    }

    fn dot(self, other: Self) -> f32 {
        self.0 * other.0 + self.1 * other.1 + self.2 * other.2
    }

    fn unit(self) -> Self {
        self * (1.0 / self.dot(self).sqrt())
    }

    fn reflected(self, normal: Self) -> Self {
        self - normal * (2.0 * self.dot(normal))
    }
}

impl Add for Vector {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl Sub for Vector {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

impl Mul<f32> for Vector {
    type Output = Self;
    fn mul(self, factor: f32) -> Self {
        Self(self.0 * factor, self.1 * factor, self.2 * factor)
    }
}

/// What a surface does with light.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub enum Material {
    /// Scatters it everywhere.
    Diffuse,
    /// Reflects it, more or less exactly.
    Metallic {
        /// How much less.
        roughness: f32,
    },
    /// Refracts it.
    Dielectric {
        /// The index of refraction.
        index: f32,
    },
}

/// A sphere.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Sphere {
    /// Its centre.
    pub centre: Vector,
    /// Its radius.
    pub radius: f32,
    /// Its colour.
    pub colour: Vector,
    /// What it is made of.
    pub material: Material,
}

/// What is to be seen. The slice lies in memory that the device reaches.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Scene<'a> {
    /// The spheres.
    pub spheres: &'a [Sphere],
}

/// The picture, in pixels, and where it lies before the eye, which is at zero.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct View {
    /// Its width and height in pixels.
    pub size: [u32; 2],
    /// Its lower left corner.
    pub corner: Vector,
    /// Its lower edge.
    pub horizontal: Vector,
    /// Its left edge.
    pub vertical: Vector,
}

/// Random numbers by an xorshift (G. Marsaglia, "Xorshift RNGs", 2003).
struct Random(u32);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        (self.0 >> 8) as f32 / (1 << 24) as f32
    }

    fn in_unit_sphere(&mut self) -> Vector {
        loop {
            let point = Vector(self.next(), self.next(), self.next()) * 2.0 - Vector(1.0, 1.0, 1.0);
            if point.dot(point) < 1.0 {
                return point;
            }
        }
    }
}

/// A ray of light, from the eye.
#[derive(Clone, Copy)]
struct Ray {
    origin: Vector,
    direction: Vector,
}

impl Ray {
    fn at(self, distance: f32) -> Vector {
        self.origin + self.direction * distance
    }

    /// The first sphere that it meets, and after which distance.
    fn first_hit<'a>(self, scene: &Scene<'a>) -> Option<(&'a Sphere, f32)> {
        let mut first = None;
        let mut nearest = f32::INFINITY;
        for sphere in scene.spheres {
            let to_centre = sphere.centre - self.origin;
            let (a, half_b) = (self.direction.dot(self.direction), self.direction.dot(to_centre));
            let root = half_b * half_b - a * (to_centre.dot(to_centre) - sphere.radius * sphere.radius);
            if root < 0.0 {
                continue;
            }
            let root = root.sqrt();
            for distance in [(half_b - root) / a, (half_b + root) / a] {
                if distance > 0.001 && distance < nearest {
                    nearest = distance;
                    first = Some((sphere, distance));
                }
            }
        }
        first
    }

    /// Where it goes on behind a surface, if it does.
    fn scattered(self, sphere: &Sphere, distance: f32, random: &mut Random) -> Option<Self> {
        let origin = self.at(distance);
        let normal = (origin - sphere.centre) * (1.0 / sphere.radius);
        let direction = match sphere.material {
            Material::Diffuse => normal + random.in_unit_sphere(),
            Material::Metallic { roughness } => {
                let direction = self.direction.unit().reflected(normal) + random.in_unit_sphere() * roughness;
                (direction.dot(normal) > 0.0).then_some(direction)?
            }
            Material::Dielectric { index } => {
                let is_inside = self.direction.dot(normal) > 0.0;
                let (outwards, ratio) =
                    if is_inside { (normal * -1.0, index) } else { (normal, 1.0 / index) };
                let unit = self.direction.unit();
                let cosine = -unit.dot(outwards);
                let bent = 1.0 - ratio * ratio * (1.0 - cosine * cosine);
                let at_right_angle = (1.0 - index) / (1.0 + index);
                let at_right_angle = at_right_angle * at_right_angle;
                // Schlick's approximation.
                let reflects = at_right_angle + (1.0 - at_right_angle) * (1.0 - cosine).powi(5);
                if bent <= 0.0 || random.next() < reflects {
                    unit.reflected(outwards)
                } else {
                    unit * ratio + outwards * (ratio * cosine - bent.sqrt())
                }
            }
        };
        Some(Self { origin, direction })
    }

    /// The light that comes along it.
    fn colour(mut self, scene: &Scene<'_>, random: &mut Random) -> Vector {
        let mut light = Vector(1.0, 1.0, 1.0);
        for _ in 0..5 {
            let Some((sphere, distance)) = self.first_hit(scene) else {
                let height = 0.5 * (self.direction.unit().1 + 1.0);
                let sky = Vector(1.0, 1.0, 1.0) * (1.0 - height) + Vector(0.5, 0.7, 1.0) * height;
                return light.zip(sky, |a, b| a * b);
            };
            light = light.zip(sphere.colour, |a, b| a * b);
            match self.scattered(sphere, distance, random) {
                Some(ray) => self = ray,
                None => break,
            }
        }
        Vector::default()
    }
}

/// The pixel of this thread, if it has one.
fn pixel(view: &View) -> Option<usize> {
    let index = thread::index_2d();
    let [width, height] = view.size;
    (index.x < width && index.y < height).then(|| (index.y * width + index.x) as usize)
}

/// Adds a sample to each pixel.
///
/// # Safety
///
/// `light` and `seeds` have as many elements as there are pixels; seeds are not zero.
#[kernel]
pub unsafe fn render(light: *mut Vector, view: View, scene: &Scene<'_>, seeds: *mut u32) {
    let Some(i) = pixel(&view) else { return };
    // SAFETY: the elements exist, and belong to this thread.
    let (light, seed) = unsafe { (&mut *light.add(i), &mut *seeds.add(i)) };
    let mut random = Random(*seed);
    let index = thread::index_2d();
    let [x, y] = [(index.x, view.size[0]), (index.y, view.size[1])]
        .map(|(pixel, pixels)| (pixel as f32 + random.next()) / pixels as f32);
    let direction = view.corner + view.horizontal * x + view.vertical * y;
    *light = *light + Ray { origin: Vector::default(), direction }.colour(scene, &mut random);
    *seed = random.0;
}

/// Makes the bytes of a picture of the sums of samples.
///
/// # Safety
///
/// `light` and `bytes` have as many elements as there are pixels.
#[kernel]
pub unsafe fn postprocess(light: *const Vector, bytes: *mut [u8; 3], samples: u32, view: View) {
    let Some(i) = pixel(&view) else { return };
    // SAFETY: the elements exist, and belong to this thread.
    unsafe {
        let Vector(red, green, blue) = *light.add(i) * (1.0 / samples as f32);
        // The square root stands for a gamma of 2.
        *bytes.add(i) = [red, green, blue].map(|part| (part.sqrt() * 255.0) as u8);
    }
}
