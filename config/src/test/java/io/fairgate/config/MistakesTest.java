package io.fairgate.config;

import static io.fairgate.config.PolicyReaderTest.IDENTIFY;
import static io.fairgate.config.PolicyReaderTest.mistakes;
import static io.fairgate.config.PolicyReaderTest.read;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.Mistake;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** How the mistakes of a policy file are told. */
class MistakesTest {

    @Test
    void every_mistake_of_a_tree_is_told_at_once() {
        assertThat(mistakes("fairgate.yml", """
                tenants:
                  identify: [ { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] } ]
                  groups:
                    a: { parent: b, weight: 0 }
                    b: { parent: a }
                    c: { max-in-flight: 1 }
                    d: { colour: red, parent: none }
                  plans: { gold: { reserved: 2, parent: c } }
                  members: { x: { plan: gold }, y: { plan: gold, parent: e } }
                """))
                .extracting(mistake -> mistake.line() + " " + mistake.key())
                .containsExactly(
                        "4 tenants.groups.a.parent",
                        "4 tenants.groups.a.weight",
                        "6 tenants.groups.c.max-in-flight",
                        "7 tenants.groups.d.colour",
                        "7 tenants.groups.d.parent",
                        "9 tenants.members.y.parent");
    }

    @Test
    void one_defect_that_aliases_repeat_is_told_once() {
        assertThat(mistakes(IDENTIFY + "}\npools: { a: &a { permits: 0 }, b: *a }"))
                .hasSize(1);
    }

    @Test
    void all_mistakes_are_told_at_once_in_the_order_of_their_lines() {
        assertThat(mistakes("""
                        routes:
                          - id: ""
                            uri: http://localhost:9000
                            predicates: []
                            filters: [ FairShare=ordres ]
                        pools:
                          orders: { permits: 0, max-waiting: -1, max-wait: 0s, max-hold: 1 }
                          small: { permits: 2 }
                          tiny: { permits: 1 }
                          broken: { permits: many }
                        tenants:
                          identify:
                            - { header: "a b", trusted-from: [here] }
                          plans:
                            gold: { weight: 0, max-in-flight: 0, max-waiting: x, guaranteed: -1, reserved: 3 }
                          members:
                            acme: { plan: gold }
                            globex: { plan: gld }
                        """))
                .extracting(mistake -> mistake.line() + " " + mistake.key())
                .containsExactly(
                        "2 routes[0].id",
                        "4 routes[0].predicates",
                        "5 routes[0].filters[0].pool",
                        "7 pools.orders.permits",
                        "7 pools.orders.max-waiting",
                        "7 pools.orders.max-wait",
                        "7 pools.orders.max-hold",
                        "8 pools.small.permits",
                        "9 pools.tiny.permits",
                        "10 pools.broken.permits",
                        "13 tenants.identify[0].header",
                        "13 tenants.identify[0].trusted-from[0]",
                        "15 tenants.plans.gold.weight",
                        "15 tenants.plans.gold.max-in-flight",
                        "15 tenants.plans.gold.max-waiting",
                        "15 tenants.plans.gold.guaranteed",
                        "18 tenants.members.globex.plan");
    }

    @Test
    void the_message_of_the_exception_lists_the_mistakes_one_a_line() {
        InvalidPolicyException invalid = Objects.requireNonNull(
                catchThrowableOfType(InvalidPolicyException.class, () -> read("pool: {}\ntenants: []\n")));

        assertThat(invalid).hasMessage("""
                fairgate.yml:1: pool: unknown key (expected: one of tenants, pools, upstreams, routes, rate-limit-headers, metrics, enforce; did you mean pools?)
                fairgate.yml:2: tenants: an empty list (expected: a mapping with keys of identify, trusted-proxies, proxy-headers, proxy-protocol, forward-as, unknown, plans, members, groups, classes)""");
    }

    @Test
    void a_mistake_is_one_short_line_whatever_the_file_holds() {
        List<Mistake> mistakes =
                mistakes(IDENTIFY + "}\npools: { orders: { permits: \"a\\nb\\e[0m" + "x".repeat(999) + "\" } }");

        assertThat(mistakes)
                .singleElement()
                .satisfies(mistake -> assertThat(mistake.toString())
                        .startsWith("fairgate.yml:2: pools.orders.permits: \"a\\u000ab\\u001b[0mxxx")
                        .hasSizeLessThan(400));
    }
}
