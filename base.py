import sys, collections
from dev import *
from estimators.online.robot.estimator import RobotEstimator
from estimators.base import Status
def run(row,seed,verbose=False):
    m,d,q,tau=make(row,seed)
    e=RobotEstimator(m,1/RATE); ev=[]; st=collections.Counter(); t0=time.process_time()
    for s in range(SECONDS):
        p=slice(s*RATE,(s+1)*RATE)
        e.absorb(1_000_000_000//RATE*(1+s*RATE+np.arange(RATE)),q[p],tau[p])
        ev+=[(round(x.time/1e9,1),x.kind,x.text) for x in e.events()]
        st[e.estimate().status.name]+=1
        if verbose and hasattr(e,'findings'):
            pass
    return ev,st,d,time.process_time()-t0
if __name__=="__main__":
    rows=[r for r in DISTURBANCES if any(k in r for k in sys.argv[3].split(','))] if len(sys.argv)>3 and sys.argv[3] else DISTURBANCES
    for row in rows:
        for seed in range(int(sys.argv[1]),int(sys.argv[2])):
            ev,st,d,cpu=run(row,seed)
            print(f"{row:24} {seed} j{d.joint} {dict(collections.Counter(k for _,k,_ in ev))} {dict(st)} cpu {cpu:.1f}",flush=True)
            if len(sys.argv)>4:
                for x in ev[:int(sys.argv[4])]: print('     ',x)
