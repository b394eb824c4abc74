import sys, time, pickle, os
os.environ.setdefault("OPENBLAS_NUM_THREADS","1")
sys.path.insert(0,'.')
import numpy as np
from pathlib import Path
from hil_rig.truth.random_arm import draw, ArmInMotion, identified, RATE
from hil_rig.truth.disturbances import DISTURBANCES, SECONDS, CHANGE
C=Path('/tmp/findings_cache'); C.mkdir(exist_ok=True)
def make(row, seed):
    f=C/f"{row.replace(' ','_').replace('%','p')}-{seed}.pkl"
    if f.exists(): return pickle.loads(f.read_bytes())
    arm=draw(seed); m=C/f"model-{seed}.pkl"
    if not m.exists(): m.write_bytes(pickle.dumps(identified(arm,seed)))
    d=DISTURBANCES[row](arm,np.random.default_rng([seed,77]))
    a=ArmInMotion(d.live or arm, seed, 2*seed+2, d.jumps)
    q,tau=a.take(SECONDS); d.distorted(0.0,q,tau,RATE)
    f.write_bytes(pickle.dumps((pickle.loads(m.read_bytes()),d,q,tau,a.friction))) if False else f.write_bytes(pickle.dumps((pickle.loads(m.read_bytes()),d,q,tau)))
    return pickle.loads(f.read_bytes())
if __name__=="__main__":
    for seed in range(int(sys.argv[1]),int(sys.argv[2])):
        for row in DISTURBANCES:
            t=time.time(); make(row,seed); print(row,seed,round(time.time()-t,1),flush=True)
