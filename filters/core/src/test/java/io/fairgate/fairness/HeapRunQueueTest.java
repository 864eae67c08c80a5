package io.fairgate.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.shares.ShareSettings;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class HeapRunQueueTest {

    private static ShareSettings promise(Random random) {
        return ShareSettings.EQUAL.withGuaranteed(5 + random.nextInt(50), 0);
    }

    /** With many shares: few would be in order as soon as each has been checked. */
    @Test
    void shares_below_their_guarantees_are_reordered_when_all_guarantees_change() {
        Random random = new Random(1);
        for (int round = 0; round < 500; round++) {
            HeapRunQueue heap = new HeapRunQueue();
            ScanRunQueue scan = new ScanRunQueue();
            List<SchedulingNode> nodes = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                SchedulingNode node = new SchedulingNode(i, promise(random), true, null);
                node.inFlight = random.nextInt(5);
                node.queue.append(new QueuedRequest(TenantId.of("t" + i), null, 1) {
                    @Override
                    protected boolean accept() {
                        return true;
                    }
                });
                nodes.add(node);
                heap.add(node, 0);
                scan.add(node, 0);
            }
            nodes.forEach(node -> node.setSettings(promise(random)));
            heap.afterChangeOfAll(0, 1);
            scan.afterChangeOfAll(0, 1);

            for (SchedulingNode next = scan.mostUrgent(); next != null; next = scan.mostUrgent()) {
                assertThat(heap.mostUrgent()).isSameAs(next);
                heap.remove(next, 0);
                scan.remove(next, 0);
            }
            assertThat(heap.mostUrgent()).isNull();
        }
    }
}
