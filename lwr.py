import sys,os,pickle,collections
os.environ.setdefault("OPENBLAS_NUM_THREADS","1")
sys.path.insert(0,'tests/benchmarks'); sys.path.insert(0,'.')
import numpy as np
from pathlib import Path
f=Path('/tmp/lwr.pkl')
import robot_recorded as rr
if f.exists(): found=pickle.loads(f.read_bytes())
else:
    runs=rr.runs(); found=[(rr.taught(r),r) for r in runs]; f.write_bytes(pickle.dumps(found))
from estimators.online.robot.estimator import RobotEstimator
(m2,r2),(m3,r3)=found
if __name__=="__main__":
  for word,m,r in (("2>3",m2,r3),("3>2",m3,r2)):
    run=rr.even(r); e=RobotEstimator(m,1/rr.RATE); ev=[]; st=collections.Counter(); why=collections.Counter()
    for k in range(0,len(run.ticks),20):
        p=slice(k,k+20); e.absorb(run.ticks[p],run.q[p],run.tau[p]); ev+=[(round(x.time/1e9,1),x.kind,x.text) for x in e.events()]
        z=e.estimate(); st[z.phase.name+' '+z.status.name]+=1; why.update(x.named for x in z.reasons)
    print(word,dict(st),dict(why)); [print('   ',x) for x in ev]
