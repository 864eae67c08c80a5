import subprocess,os,shutil,sys
SRC='/tmp/wt-proof'; P='filters/core/src/main/java/io/fairgate/'
OUT='/tmp/wt-proof/filters/testkit/src/mutants'
os.makedirs(OUT,exist_ok=True)
M=[]
def m(name, tests, desc, file, old, new, count=1):
    M.append((name,tests,desc,file,old,new,count))
exec(open('/tmp/dev/mut/list.py').read())
only=sys.argv[1:]
for name,tests,desc,file,old,new,count in M:
    if only and name not in only: continue
    p=os.path.join(SRC,P+file); s=open(p).read()
    if s.count(old)<1: print('NO MATCH',name); continue
    t=s.replace(old,new,count)
    open('/tmp/dev/mut/a','w').write(s); open('/tmp/dev/mut/b','w').write(t)
    d=subprocess.run(['diff','-u','--label','a/'+P+file,'--label','b/'+P+file,'/tmp/dev/mut/a','/tmp/dev/mut/b'],capture_output=True,text=True).stdout
    with open(f'{OUT}/{name}.patch','w') as f:
        f.write(desc+'\n'+'Turns red: '+tests+'\n\n'+d)
    print(name)
