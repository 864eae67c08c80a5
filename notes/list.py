m('permit-put-back-without-looking','lincheck one_permit_that_lies_open; jcstress DoubleRelease',
  'A permit is put back into its cell without a look at who is in it.',
  'permit/OpenPermits.java','return cells.compareAndSet(claim.cell, claim, null);',
  'cells.set(claim.cell, null);\n        return true;')
m('permit-taken-by-check-then-act','lincheck one_permit_that_lies_open','An open permit is looked at, and taken in a second step.',
  'permit/OpenPermits.java','if (cells.compareAndSet(at, null, claim)) {\n                    return true;\n                }','cells.set(at, claim);\n                return true;')
m('cell-shut-in-two-steps','lincheck one_permit_that_lies_open','A cell is read, and shut in a second step.',
  'permit/OpenPermits.java','Object was = cells.getAndSet(i, SHUT);','Object was = cells.get(i);\n                cells.set(i, SHUT);')
m('news-forgotten','lincheck','The drain forgets what was told while it drained.',
  'permit/EmbeddedPermitPool.java','seen = more ? startAgain(newsCount) : newsCount.addAndGet(-seen);','newsCount.set(0);\n            seen = more ? 1 : 0;')
m('homecoming-forgotten','lincheck','The dispatch forgets who became ready while it sent others home.',
  'permit/EmbeddedPermitPool.java','seen = more ? startAgain(readyCount) : readyCount.addAndGet(-seen);','readyCount.set(0);\n            seen = more ? 1 : 0;')
m('two-drain-at-once','lincheck','Whoever has news drains, also while another thread does.',
  'permit/EmbeddedPermitPool.java','if (newsCount.getAndIncrement() == 0) {\n            drain(1);','newsCount.getAndIncrement();\n        {\n            drain(1);')
m('grant-by-check-then-act','lincheck; jcstress GrantAgainstCancel','The drain looks whether a waiter still waits, and grants in a second step.',
  'permit/PermitWaiter.java','''    protected final boolean accept() {
        return STATE.compareAndSet(this, WAITING, GRANTED);''','''    protected final boolean accept() {
        boolean waits = state == WAITING;
        if (waits) {
            state = GRANTED;
        }
        return waits;''')
m('cancelled-with-open-permit','lincheck','Who was cancelled while it took an open permit does not put it back.',
  'permit/PermitWaiter.java','''        if (!STATE.compareAndSet(this, WAITING, here ? STARTING : GRANTED)) {
            pool.giveBack(this);
        } else if''','''        if (!STATE.compareAndSet(this, WAITING, here ? STARTING : GRANTED)) {
            return;
        } else if''')
m('shut-cell-not-told','lincheck','Who finds its cell shut does not tell the drain.',
  'permit/EmbeddedPermitPool.java','if (from == null || !from.giveBack(claim)) {','if (from == null || !from.giveBack(claim) && from != open) {')
m('attempt-not-given-up','lincheck','An attempt to take a permit at once is not given up when the drain has not answered.',
  'permit/HeldClaim.java','''            var unused = pool.ask(this);
            giveUp();''','''            var unused = pool.ask(this);''')
m('cancelled-after-grant','lincheck; jcstress','Who is cancelled between grant and start keeps its permit.',
  'permit/PermitWaiter.java','pool.listener().abandoned(tenant(), pool.now() - askedAt);\n            pool.giveBack(this);','pool.listener().abandoned(tenant(), pool.now() - askedAt);\n            if (!isHolding()) {\n                pool.giveBack(this);\n            }')
m('timer-left-behind','lincheck','A timer that is set after the grant is not stopped.',
  'permit/PermitWaiter.java','stopUnless(WAITING, waitTimer);','')
m('opened-while-somebody-waits','lincheck','Permits are opened while somebody waits.',
  'permit/EmbeddedPermitPool.java','if (closing || scheduler.waiting() > 0) {','if (closing) {')
m('not-shut-for-a-waiter','lincheck','Permits are not shut before somebody has to wait.',
  'permit/EmbeddedPermitPool.java','''    private void admit(PoolClaim claim) {
        shutOpen();''','''    private void admit(PoolClaim claim) {''')
m('left-while-starting','lincheck; jcstress GrantAgainstCancel','Who leaves while its work starts gives its permit back before the work is cancelled.',
  'permit/PermitWaiter.java','''        if (STATE.compareAndSet(this, LEAVING, SETTLING)) {
            cancelWork();''','''        if (STATE.compareAndSet(this, LEAVING, SETTLING)) {
            discard();
            settle();''')
m('end-by-check-then-act','jcstress ErrorAgainstCancel','The end of a work is looked at, and taken in a second step.',
  'permit/PermitWaiter.java','return STATE.compareAndSet(this, STARTING, next) || STATE.compareAndSet(this, RUNNING, next);','boolean first = isRunning();\n        if (first) {\n            state = next;\n        }\n        return first;')
m('closed-while-in-flight','lincheck closing','A pool says that it is closed while something is in flight.',
  'permit/EmbeddedPermitPool.java','if (closing && scheduler.waiting() == 0 && scheduler.inFlight() == 0) {','if (closing && scheduler.waiting() == 0) {')
m('settled-twice','jcstress','What has settled gives its permits back again.',
  'permit/PermitWaiter.java','''        if (STATE.compareAndSet(this, SETTLING, DONE)) {
            giveBack();''','''        if (state == SETTLING) {
            state = DONE;
            giveBack();''')
m('timed-out-by-check-then-act','lincheck; jcstress GrantAgainstTimeout','A timer looks whether the request still waits, and ends the wait in a second step.',
  'permit/PermitWaiter.java','''        if (STATE.compareAndSet(this, WAITING, TIMED_OUT)) {
            pool.look(this);''','''        if (state == WAITING) {
            state = TIMED_OUT;
            pool.look(this);''')
m('tenant-forgotten-in-flight','jcstress ForgetAgainstAcquire','A tenant is forgotten although it has permits in flight.',
  'fairness/FairScheduler.java','                && share.inFlight == 0\n','')
m('closed-soon','lincheck closing','A closing pool lets permits be taken without asking.','permit/EmbeddedPermitPool.java','NOTYET','')
