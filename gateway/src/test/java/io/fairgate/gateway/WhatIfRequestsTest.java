package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

/** What the endpoint answers to requests that it cannot replay. */
class WhatIfRequestsTest {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    @BeforeAll
    static void start() {
        both.start(policy());
    }

    private static String policy() {
        return TestPolicy.onePool("http://UPSTREAM", "permits: 4, max-wait: 30s");
    }

    private static List<String> mistakes(HttpResponse<String> answer) {
        List<String> mistakes = new ArrayList<>();
        JSON.readTree(answer.body()).path("mistakes").forEach(one -> mistakes.add(one.asString()));
        return mistakes;
    }

    @Test
    void a_candidate_with_mistakes_is_refused_with_each_of_them_and_changes_nothing() throws Exception {
        HttpResponse<String> answer = WhatIfTest.ask(
                both.gateway(),
                policy().replace("a: { plan: plan }", "a: { plan: plan, weight: 0 }")
                        .replace("permits: 4", "permit: 4"),
                60);
        assertThat(answer.statusCode()).isEqualTo(422);
        assertThat(mistakes(answer)).hasSize(2).allMatch(mistake -> mistake.startsWith("candidate:"));
        assertThat(mistakes(answer).get(0)).contains("weight: 0");
        assertThat(mistakes(answer).get(1)).contains("pools.pool.permit: unknown key");
        assertThat(both.gateway().pool("pool").permits()).isEqualTo(4);
        assertThat(Answer.to(both.gateway().managementUrl("/actuator/policy")).json("result"))
                .isEqualTo("CHANGED");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 601, Integer.MAX_VALUE})
    void a_time_that_is_not_recorded_is_refused(int seconds) throws Exception {
        HttpResponse<String> answer = WhatIfTest.ask(both.gateway(), policy(), seconds);
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(mistakes(answer)).containsExactly("seconds: %d (expected: 1 to 600)".formatted(seconds));
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "{\"policy\":null}", "{", "[]", "{\"policy\":\"a: 1\",\"seconds\":\"soon\"}"})
    void a_request_without_a_policy_is_refused(String body) throws Exception {
        assertThat(WhatIfTest.ask(both.gateway(), body).statusCode()).isEqualTo(400);
    }

    @Test
    void a_pool_that_the_candidate_does_not_have_is_named_and_a_new_one_is_not() throws Exception {
        assertThat(Answer.to(both.gateway().url("/fair/y"), "X-Tenant-Id", "a").status())
                .isEqualTo(200);
        HttpResponse<String> answer = WhatIfTest.ask(
                both.gateway(),
                policy().replace("pool: {", "other: {").replace("FairShare=pool", "FairShare=other"),
                60);
        assertThat(answer.body())
                .isEqualTo(
                        "{\"pools\":[],\"notReplayed\":[\"pool pool: the candidate does not have it\"],\"notes\":[]}");
    }
}
