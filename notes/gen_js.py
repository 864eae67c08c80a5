import os,textwrap
OUT='/tmp/wt-proof/filters/testkit/src/jcstress/java/io/fairgate/testkit/proof/'
def test(name, doc, pool, before, actors, outcomes, arbiter=None, fields='', forbidden='A permit was lost or given twice, or somebody was forgotten.'):
    o=''.join(f'''@Outcome(
        id = "{i}",
        expect = ACCEPTABLE,
        desc = "{d}")
''' for i,d in outcomes)
    a='\n'.join(f'''    @Actor
    public void {n}() {{
{textwrap.indent(b,' '*8)}
    }}
''' for n,b in actors)
    ctor = f'''    public {name}() {{
{textwrap.indent(before,' '*8)}
    }}

''' if before else ''
    arb = arbiter or 'result.r1 = pool.outcome();'
    imports=['org.openjdk.jcstress.annotations.Actor','org.openjdk.jcstress.annotations.Arbiter','org.openjdk.jcstress.annotations.JCStressTest','org.openjdk.jcstress.annotations.Outcome','org.openjdk.jcstress.annotations.State','org.openjdk.jcstress.infra.results.L_Result']
    if 'HeldPermits' in fields: imports.insert(0,'io.fairgate.permit.HeldPermits')
    if 'AtomicInteger' in fields: imports.insert(0,'java.util.concurrent.atomic.AtomicInteger')
    if 'PoolListener' in fields: imports[0:0]=['io.fairgate.permit.PoolListener','io.fairgate.tenant.TenantId']
    imports=sorted(imports)
    s=f'''package io.fairgate.testkit.proof;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

{chr(10).join('import '+i+';' for i in imports)}

/** {doc} */
@JCStressTest
@State
{o}@Outcome(
        expect = FORBIDDEN,
        desc = "{forbidden}")
public class {name} {{

{fields}    private final PoolOfRequests pool = {pool};

{ctor}{a}
    @Arbiter
    public void outcome(L_Result result) {{
{textwrap.indent(arb,' '*8)}
    }}
}}
'''
    open(OUT+name+'.java','w').write(s)

N='not asked'
test('GrantAgainstCancel','The permit of request 0 goes to request 1 while that is cancelled; request 2 waits behind it.',
 'PoolOfRequests.open(1, 1)','pool.acquire(0);\npool.acquire(1);\npool.acquire(2);',
 [('grant','pool.release(0);'),('cancel','pool.cancel(1);')],
 [('over, over, running, not asked, 1 in flight','Whoever won, the cancelled request has nothing and the next has the permit.')])
test('GrantAgainstTimeout','The permit of request 0 goes to request 1 while the time of that is up; request 2 waits behind it.',
 'PoolOfRequests.open(1, 1)','pool.acquire(0);\npool.acquire(1);\npool.acquire(2);',
 [('grant','pool.release(0);'),('timeOut','pool.timeOut(1);')],
 [('over, running, waiting, not asked, 1 in flight','The grant came first: the timer finds nothing to do.'),
  ('over, max-wait, running, not asked, 1 in flight','The timer came first: the permit goes to the next.')])
test('CancelAgainstTimeout','Request 1 is cancelled while its time is up; request 2 waits behind it.',
 'PoolOfRequests.open(1, 1)','pool.acquire(0);\npool.acquire(1);\npool.acquire(2);',
 [('cancel','pool.cancel(1);'),('timeOut','pool.timeOut(1);')],
 [('running, over, waiting, not asked, 1 in flight','Cancelled, and told of nothing.'),
  ('running, max-wait, waiting, not asked, 1 in flight','Its time was up, and it was told so before it left.')])
test('StartAgainstCancel','Request 2 takes an open permit and starts on an executor of its own, while it is cancelled.',
 'PoolOfRequests.open(1, 1)','',
 [('start','pool.acquire(2);'),('cancel','pool.cancel(2);')],
 [('not asked, not asked, running, not asked, 1 in flight','There was nothing to cancel yet.'),
  ('not asked, not asked, over, not asked, 0 in flight','Cancelled, and its permit lies open again.')])
LIS='''    private final AtomicInteger released = new AtomicInteger();
    private final PoolListener counts = new PoolListener() {
        @Override
        public void released(TenantId tenant, int permits, long heldNanos) {
            released.incrementAndGet();
        }
    };
'''
test('ErrorAgainstCancel','The work of request 0 fails while it is cancelled; request 1 waits behind it.',
 'PoolOfRequests.heard(1, counts)','pool.acquire(0);\npool.acquire(1);',
 [('fail','pool.fail(0);'),('cancel','pool.cancel(0);')],
 [('released 1: failed, running, not asked, not asked, 1 in flight','The error came first: one release.'),
  ('released 1: over, running, not asked, not asked, 1 in flight','The cancellation came first: one release.')],
 arbiter='int before = released.get();\nresult.r1 = "released " + before + ": " + pool.outcome();', fields=LIS,
 forbidden='The permit came back twice, or not at all.')
test('ExpiryAgainstCompletion','The hold of request 0 expires while its work completes; request 1 waits behind it.',
 'PoolOfRequests.heard(1, counts)','pool.acquire(0);\npool.acquire(1);',
 [('expire','pool.expire(0);'),('complete','pool.release(0);')],
 [('released 1: expired, running, not asked, not asked, 1 in flight','The hold expired first: one release.'),
  ('released 1: over, running, not asked, not asked, 1 in flight','The work completed first: one release.')],
 arbiter='int before = released.get();\nresult.r1 = "released " + before + ": " + pool.outcome();', fields=LIS,
 forbidden='The permit came back twice, or not at all.')
test('ReleaseAgainstFirstWaiter','An open permit is put back while somebody comes who would have to wait for it: the permits are shut meanwhile.',
 'PoolOfRequests.open(1, 1)','pool.acquire(0);',
 [('release','pool.release(0);'),('acquire','pool.acquire(2);')],
 [('over, not asked, running, not asked, 1 in flight','Whoever came first, the one that asked has the permit.')],
 forbidden='The wake-up was lost: somebody waits, and the permit is free.')
test('ReleaseAgainstWaiterAsPermitsOpen','The same while permits are about to lie open again, after somebody had waited long ago.',
 'PoolOfRequests.nearlyCalm(1, 1)','pool.acquire(0);',
 [('release','pool.release(0);\npool.pass();\npool.pass();'),('acquire','pool.acquire(2);')],
 [('over, not asked, running, not asked, 1 in flight','Whoever came first, the one that asked has the permit.')],
 forbidden='The wake-up was lost: somebody waits, and the permit is free.')
test('TwoTakeOneOpenPermit','Two requests come for one open permit.',
 'PoolOfRequests.open(1, 1)','',
 [('one','pool.acquire(0);'),('other','pool.acquire(2);')],
 [('running, not asked, waiting, not asked, 1 in flight','The first has it, the second waits.'),
  ('waiting, not asked, running, not asked, 1 in flight','The second has it, the first waits.')])
test('DoubleRelease','A handle is released twice at once, while two requests wait for its permit.',
 'PoolOfRequests.open(1, 1)','handle = pool.held();\npool.acquire(0);\npool.acquire(2);',
 [('one','handle.release();'),('other','handle.release();')],
 [('running, not asked, waiting, not asked, 1 in flight','One permit came back, and one request has it.')],
 fields='''    private final HeldPermits handle;
''')
test('DoubleReleaseOfOpenPermit','A handle of an open permit is released twice at once by one, while another takes what is open.',
 'PoolOfRequests.open(1, 1)','handle = pool.held();',
 [('release','handle.release();\nhandle.release();'),('acquire','pool.acquire(0);\npool.acquire(2);')],
 [('running, not asked, waiting, not asked, 1 in flight','One permit came back, and one request has it.')],
 fields='''    private final HeldPermits handle;
''')
test('CloseAgainstAcquire','The pool closes while a request comes.',
 'PoolOfRequests.open(1, 1)','',
 [('close','pool.close();'),('acquire','pool.acquire(0);')],
 [('running, not asked, not asked, not asked, 1 in flight','It came first, and closing waits for it.'),
  ('draining, not asked, not asked, not asked, closed, 0 in flight','It came too late, and was told so.')],
 forbidden='The pool closed over a request in flight, or never will.')
test('CloseAgainstRelease','The pool closes while the last permit comes back and somebody waits for it.',
 'PoolOfRequests.open(1, 1)','pool.acquire(0);\npool.acquire(2);\npool.release(2);',
 [('close','pool.close();'),('release','pool.release(0);')],
 [('over, not asked, over, not asked, closed, 0 in flight','The waiting one was served, and the pool is closed.')],
 forbidden='The pool closed over a request, or never will.')
test('ForgetAgainstAcquire','A tenant that nobody has configured gives its last permit back, and so is forgotten, while it comes again. Somebody had to wait before, so the scheduler knows of each step.',
 'PoolOfRequests.nearlyCalm(2, 2)','pool.acquire(0);',
 [('forget','pool.release(0);'),('acquire','pool.acquire(2);')],
 [('over, not asked, running, not asked, 1 in flight','The tenant that came again is counted.')],
 forbidden='The pool counts permits for a tenant that it has forgotten, or none for one that holds some.')
test('GrowAgainstAcquire','The pool gets a second permit while a request comes that would have to wait.',
 'PoolOfRequests.open(1, 2)','pool.acquire(0);',
 [('grow','pool.resize(2);'),('acquire','pool.acquire(2);')],
 [('running, not asked, running, not asked, 2 in flight','Both have a permit.')])
test('HandOverAgainstCancel','Who waits for a handle is cancelled while the permit is handed over to it; request 2 waits behind it.',
 'PoolOfRequests.open(1, 1)','pool.acquire(0);\npool.acquireHandle();\npool.acquire(2);',
 [('grant','pool.release(0);'),('cancel','pool.cancelHandle();')],
 [('over, not asked, running, not asked, 1 in flight','Nobody has the handle, and the next has the permit.'),
  ('handle, over, not asked, waiting, not asked, 1 in flight','It was handed over before: its holder has to release it.')])
