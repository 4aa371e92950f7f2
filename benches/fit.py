import json,sys,math,numpy as np
from scipy.optimize import least_squares
S=132
BYTES={'f16':(2,2),'bf16':(2,2),'tf32':(4,4),'f64':(8,8),'i8':(1,4),'e4m3':(1,2),'e4m3 fast':(1,2)}
CLASS={'f16':'half','bf16':'half','tf32':'tf32','f64':'f64','i8':'i8','e4m3':'f8','e4m3 fast':'f8'}
def load(files):
    rows=[]
    for f in files:
        for l in open(f):
            d=json.loads(l); rows.append(d)
    return rows
def feats(d):
    kind,order,(m,n,k)=d['kind'],d['order'],d['sizes']
    ob,rb=BYTES[kind]
    pa=(k if order[0]=='n' else m)*ob%16!=0 and (m>1 or order[0]=='t')
    pb=(n if order[1]=='n' else k)*ob%16!=0
    packed=[m*k*ob if pa else 0, k*n*ob if pb else 0]
    return kind,order,m,n,k,ob,rb,packed
GROUPS=[k for k in ('half','tf32','f8','i8','f64')]
class Model:
    G=['start','launch','bw','pbw','packlaunch','tstart','cbw','unaligned','pitch','skbw','round']
    G0=dict(start=2.0,launch=2.5,bw=3.9,pbw=2.5,packlaunch=2.0,tstart=2.0,cbw=2.5,unaligned=1.5,pitch=0.05,skbw=6.0,round=0.05)
    def __init__(self,keys):
        self.keys=keys; self.idx={k:i for i,k in enumerate(keys)}
    def x0(self):
        x=[math.log(self.G0[g]) for g in self.G]
        for (c,r,cc,th) in self.keys:
            a=r*cc/32768
            if th: x+= [math.log(0.3+2*a),math.log(1.5)]
            else: x+=[math.log(0.1+0.56*a),math.log(1.5)]
        return np.array(x)
    def globals(self,x): return dict(zip(self.G,np.exp(x[:len(self.G)])))
    def costs(self,x,key):
        i=len(self.G)+2*self.idx[key]
        return math.exp(x[i]),math.exp(x[i+1])
    def predict(self,x,d,plan):
        r,cc,th,cut=plan[:4]
        kind,order,m,n,k,ob,rb,packed=d['f']
        g=self.globals(x)
        step,tile=self.costs(x,(CLASS[kind],r,cc,th))
        steps=max(1,-(-k*ob//128)); tr,tc=-(-m//r),-(-n//cc); tiles=tr*tc
        slots=S*(4 if th else 1)
        edge=0
        if th:
            if packed[0] or packed[1]: step*=g['unaligned']
        else:
            pa=(k if order[0]=='n' else m)*ob%128; pb=(n if order[1]=='n' else k)*ob%128
            if (pa and not packed[0]) or (pb and not packed[1]): step*=1+g['pitch']
        part=0;launches=0;sk=0;rounds=0
        if cut==0: comp=max(1,math.ceil(tiles/slots))*(steps*step+tile)+edge*steps
        elif cut>0:
            each=math.ceil(steps/cut)
            comp=max(1,math.ceil(tiles*cut/slots))*(each*step+tile)+edge*each; part=4*m*n*cut*1e-6; launches=1; rounds=cut
        else:
            w=tiles//slots; rest=tiles%slots
            part=4*r*cc*min(slots+rest,2*slots)*1e-6
            comp=w*(steps*step+tile)+math.ceil(rest*steps/slots)*step+2*tile+edge*steps*(w>0); launches=1+(w>0); rounds=slots/max(1,rest)
            sk=rest*(r+cc)*k*ob*1e-6/g['skbw']
        mem=(k*(m+n)*ob)*1e-6/g['bw']+m*n*rb*1e-6/g['cbw']
        mem=max(mem,sk)
        b=(comp**4+mem**4)**.25
        pk=0
        if not th:
            for p in packed:
                if p: pk+=g['packlaunch']+2*p*1e-6/g['bw']
        return (g['tstart'] if th else g['start'])+b+pk+launches*g['launch']+part/g['pbw']+rounds*g['round']
def main(files):
    rows=load(files)
    keys=set()
    for d in rows:
        d['f']=feats(d)
        for p in d['plans']: keys.add((CLASS[d['kind']],p[0],p[1],p[2]))
    M=Model(sorted(keys))
    obs=[]
    for d in rows:
        if not d['plans']: continue
        best=min(p[4] for p in d['plans'])
        for p in d['plans']:
            if p[4]<2.5*best: obs.append((d,p,1.0/(0.05+ (p[4]/best-1))**.5))
    def res(x): return np.array([w*math.log(M.predict(x,d,p)/p[4]) for d,p,w in obs])
    x=M.x0()
    r=least_squares(res,x,loss='soft_l1',f_scale=0.3,max_nfev=30)
    x=r.x
    evaluate(M,x,rows)
    return M,x,rows
def evaluate(M,x,rows,show=15):
    reg=[]
    for d in rows:
        if not d['plans']: continue
        best=min(d['plans'],key=lambda p:p[4]); ch=min(d['plans'],key=lambda p:M.predict(x,d,p))
        reg.append((best[4]/ch[4],d['rival'] and d['rival']/ch[4],d['rival'] and d['rival']/best[4],d,ch,best))
    reg.sort(key=lambda t:t[0])
    print('products',len(reg),'regret gm',math.exp(np.mean([math.log(t[0]) for t in reg])),'5th',reg[len(reg)//20][0])
    rr=sorted([t[1] for t in reg if t[1]]); bb=sorted([t[2] for t in reg if t[2]])
    for nm,v in (('chosen',rr),('best',bb)): print(nm,'gm %.3f p5 %.3f min %.3f'%(math.exp(np.mean(np.log(v))),v[len(v)//20],v[0]))
    for t in reg[:show]: print('%.2f'%t[0],t[3]['kind'],t[3]['order'],t[3]['sizes'],'chosen',t[4],'%.1f'%M.predict(x,t[3],t[4]),'best',t[5],'%.1f'%M.predict(x,t[3],t[5]),'rival',t[3]['rival'])
    print('--- best plan behind rival')
    for t in sorted([t for t in reg if t[2]],key=lambda t:t[2])[:40]: print('%.2f'%t[2],t[3]['kind'],t[3]['order'],t[3]['sizes'],'best',t[5],'rival',t[3]['rival'])
if __name__=='__main__':
    M,x,rows=main(sys.argv[1:])
    for g,v in zip(M.G,np.exp(x)): print(g,round(v,3))
    for i,k in enumerate(M.keys): print(k,[round(v,4) for v in np.exp(x[len(M.G)+2*i:len(M.G)+2*i+2])])
