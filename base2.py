import sys, collections
from dev import *
from estimators.online.robot.estimator import RobotEstimator
def run(row,seed):
    m,d,q,tau=make(row,seed)
    e=RobotEstimator(m,1/RATE); ev=[]; st=collections.Counter(); t0=time.process_time()
    for s in range(SECONDS):
        p=slice(s*RATE,(s+1)*RATE)
        e.absorb(1_000_000_000//RATE*(1+s*RATE+np.arange(RATE)),q[p],tau[p])
        ev+=[(round(x.time/1e9,1),x.kind) for x in e.events()]
        st[e.estimate().status.name]+=1
    return ev,st,d,e.findings(),time.process_time()-t0
if __name__=="__main__":
    for seed in range(int(sys.argv[1]),int(sys.argv[2])):
      for row in DISTURBANCES:
        if len(sys.argv)>3 and not any(k in row for k in sys.argv[3].split(',')): continue
        ev,st,d,fs,cpu=run(row,seed)
        print(f"{row:24} {seed} n{len(d.live.rows) if d.live else ''} j{d.joint} {dict(st)} cpu {cpu:.1f} {[x for x in ev if x[1] not in ('started',)]}",flush=True)
        for f in fs: print('        ',f.number,round(f.since/1e9,1),f.cause,f.joints,f.over,f.text[:150])
