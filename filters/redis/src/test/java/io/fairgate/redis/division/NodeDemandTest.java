package io.fairgate.redis.division;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import io.fairgate.fairness.AskedPermits;
import io.fairgate.tenant.TenantId;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeDemandTest {

    private static final TenantId A = TenantId.of("a");

    @Test
    void what_a_node_tells_is_what_the_others_read() {
        LargeDemand large = new LargeDemand(7, -2.25, 4, Map.of(A, 1.0));
        NodeDemand demand = new NodeDemand(Map.of(A, 3.0, TenantId.of("b.c-d_e"), 0.25), -1.5, 40, large);
        assertThat(NodeDemand.parse(demand.text())).isEqualTo(demand);
        assertThat(demand.text()).isEqualTo("2 -1.5000 40 4 7 -2.25 a:3.00:1.00 b.c-d_e:0.25");
        assertThat(NodeDemand.parse(NodeDemand.NONE.text())).isEqualTo(NodeDemand.NONE);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "2",
                "1 0.00 9 a:1.00",
                "3 0.00 9 0 0 0.00 a:1.00",
                "2 0.00 9 0 0",
                "2 x 9 0 0 0.00",
                "2 NaN 9 0 0 0.00",
                "2 0.00 x 0 0 0.00",
                "2 0.00 0 0 0 0.00",
                "2 0.00 -1 0 0 0.00",
                "2 0.00 9 -1 0 0.00",
                "2 0.00 9 0 -1 0.00",
                "2 0.00 9 0 0 NaN",
                "2 0.00 9 0 0 0.00 a",
                "2 0.00 9 0 0 0.00 :1",
                "2 0.00 9 0 0 0.00 a:",
                "2 0.00 9 0 0 0.00 a:x",
                "2 0.00 9 0 0 0.00 a:Infinity",
                "2 0.00 9 0 0 0.00 a/b:1.00",
                "2 0.00 9 0 0 0.00 a:1.00 ",
                "2 0.00 9 0 0 0.00 a:0.00",
                "2 0.00 9 0 0 0.00 a:-1.00",
                "2 0.00 9 0 0 0.00 a:1e308",
                "2 0.00 9 0 0 0.00 a:1.00:",
                "2 0.00 9 0 0 0.00 a:1.00:NaN",
                "2 0.00 9 0 0 0.00 a:1.00:-1.00",
                "2 0.00 9 0 0 0.00 a:1.00:1.00:1.00"
            })
    void a_text_of_another_form_says_nothing(String text) {
        assertThat(NodeDemand.parse(text)).isEqualTo(NodeDemand.NONE);
    }

    @Test
    void of_too_many_tenants_those_that_want_most_are_named_and_the_sum_is_right() {
        Map<TenantId, Double> wanted = new HashMap<>();
        for (int i = 0; i < 3 * NodeDemand.MOST_TENANTS; i++) {
            wanted.put(TenantId.of("t" + i), i < NodeDemand.MOST_TENANTS ? 2.0 : 1.0);
        }
        LargeDemand large = new LargeDemand(1, 0, 0, Map.of(TenantId.of("t0"), 1.0));
        NodeDemand read = NodeDemand.parse(new NodeDemand(wanted, 0, 1, large).text());
        assertThat(read.large().behind()).containsOnly(Map.entry(TenantId.of("t0"), 2.0));
        Map<TenantId, Double> told = read.wanted();
        assertThat(told).hasSize(NodeDemand.MOST_TENANTS).containsEntry(TenantId.of("t0"), 4.0);
        assertThat(told.values().stream().mapToDouble(Double::doubleValue).sum())
                .isEqualTo(4.0 * NodeDemand.MOST_TENANTS, offset(0.01));
    }

    @Test
    void numbers_that_are_too_large_for_others_are_told_as_the_largest() {
        Map<TenantId, Double> waiting = Map.of(A, 3e9);
        NodeDemand demand = NodeDemand.of(new AskedPermits(waiting, waiting, 1_000_000), 0, 1_000_000, 0, 5);
        assertThat(NodeDemand.parse(demand.text())).isEqualTo(demand);
        assertThat(demand.wanted()).containsEntry(A, 1e9);
        assertThat(demand.large().behind()).containsEntry(A, 1e9);
        assertThat(demand.large().needed()).isEqualTo(1_000_005);
    }

    @Test
    void a_little_is_not_nothing() {
        assertThat(NodeDemand.parse(new NodeDemand(Map.of(A, 0.001), 0, 1, LargeDemand.NONE).text())
                        .wanted())
                .containsEntry(A, 0.01);
    }
}
