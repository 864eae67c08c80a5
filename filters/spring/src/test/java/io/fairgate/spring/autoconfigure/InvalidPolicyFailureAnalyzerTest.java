package io.fairgate.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** What a developer sees when an application with the starter does not start because of its policy. */
@ExtendWith(OutputCaptureExtension.class)
class InvalidPolicyFailureAnalyzerTest {

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    @Test
    void all_mistakes_of_the_properties_are_listed_without_a_stack_trace(CapturedOutput output) {
        SpringApplication application = new SpringApplication(Application.class);
        assertThatThrownBy(() -> application.run(
                        "--server.port=0",
                        "--fairgate.policy.enabled=true",
                        "--fairgate.policy.tenants.identify[0].header=X-Tenant-Id",
                        "--fairgate.policy.tenants.identify[0].trusted-from=127.0.0.1",
                        "--fairgate.policy.tenants.members.a.plan=gould",
                        "--fairgate.policy.tenants.plans.gold.weight=1",
                        "--fairgate.policy.pools.orders.permits=0"))
                .isInstanceOf(RuntimeException.class);
        assertThat(output.getAll())
                .contains(
                        "APPLICATION FAILED TO START",
                        "Fairgate cannot use its policy:",
                        "    fairgate.policy.tenants.members.a.plan: unknown plan \"gould\" (expected: gold; did you mean gold?)\n",
                        "    fairgate.policy.pools.orders.permits: 0 (expected: 1 to 1000000)\n",
                        "Change each of these settings to what is expected.")
                .doesNotContain("\tat ");
    }
}
