package io.fairgate.spring.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.policy.Policy;
import io.fairgate.spring.exchange.RouteRules.RuleFilter;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.quota.CostGatewayFilterFactory.Config;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.util.unit.DataSize;

class CostGatewayFilterFactoryTest {

    private final CostGatewayFilterFactory factory =
            new CostGatewayFilterFactory(new PolicyHolder(new Policy(List.of(), Map.of(), null, Map.of())));

    @Test
    void a_cost_from_the_response_reserves_at_least_one_unit() {
        Config config = new Config().setUnits(0).setResponse("bytes").setPer(DataSize.ofBytes(100));
        CostRule cost = (CostRule) ((RuleFilter) factory.apply(config)).rule();
        assertThat(cost.units(MockServerWebExchange.from(MockServerHttpRequest.get("/"))))
                .isEqualTo(1);
        assertThat(cost.response()).isInstanceOfSatisfying(ResponseCost.Bytes.class, bytes -> {
            assertThat(bytes.units(0)).isEqualTo(1);
            assertThat(bytes.units(100)).isEqualTo(1);
            assertThat(bytes.units(101)).isEqualTo(2);
        });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "units    | -1           | Cost: units: -1 (expected: 0 to 1000000000000)",
                "rules    | GET reports=1| Cost: rules: GET reports=1 (expected: such as GET /reports/** = 10, with * for any method)",
                "header   | X-Units      | Cost: trusted-from: nothing (expected: the networks whose clients may send the header)",
                "trusted  | 10.0.0.0/8   | Cost: trusted-from: 10.0.0.0/8 (expected: nothing, because there is no header)",
                "response | seconds      | Cost: response: seconds (expected: bytes, or header: and the name of a header)",
                "max      | 5            | Cost: max: 5 (expected: no max, because neither a header nor a response gives the cost)",
                "per      | 5            | Cost: per: 5B (expected: no per, because only response: bytes uses it)",
            })
    void an_argument_without_a_meaning_is_refused(String argument, String value, String message) {
        Config config = new Config();
        switch (argument) {
            case "units" -> config.setUnits(Long.parseLong(value));
            case "rules" -> config.setRules(value);
            case "header" -> config.setHeader(value);
            case "trusted" -> config.setTrustedFrom(value);
            case "response" -> config.setResponse(value);
            case "max" -> config.setMax(Long.parseLong(value));
            default -> config.setPer(DataSize.parse(value));
        }
        assertThatThrownBy(() -> factory.apply(config)).hasMessage(message);
    }
}
