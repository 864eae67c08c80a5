package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Clients of the lease port that do not wait for their answers. */
@ExtendWith(OutputCaptureExtension.class)
class LeaseClientsLeaveTest {

    private static final String BODY = "{\"maxWait\":\"2ms\",\"ttl\":\"10ms\"}";

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @Test
    void a_client_that_leaves_before_the_answer_is_no_error(CapturedOutput output) throws Exception {
        LeasingTenant.start(
                gateway,
                TestPolicy.onePool("http://127.0.0.1:9", "permits: 1")
                        .replace("plan: {}", "plan: { quotas: [ { name: hourly, limit: 3, per: 1h } ] }"));
        int port = LeasingTenant.port(gateway);
        for (int i = 0; i < 400; i++) {
            RawClient client = new RawClient(port);
            client.send("POST /v1/pools/pool/leases HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\nIdempotency-Key: k" + i
                    + "\r\nContent-Type: application/json\r\nContent-Length: " + BODY.length() + "\r\n\r\n" + BODY);
            client.reset();
        }
        assertThat(new LeasingTenant(gateway, "a").acquire("last", "pool", "{}").status())
                .isEqualTo(429);
        assertThat(output.getAll()).doesNotContain(" ERROR ");
    }
}
