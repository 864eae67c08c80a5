package io.fairgate.gateway.policy;

import io.fairgate.gateway.policy.PolicyReload.Report;
import io.fairgate.gateway.policy.PolicyReload.Result;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;

/** {@code /actuator/policy}: the result of the latest reload of the policy file; POST reloads it now. */
@WebEndpoint(id = "policy")
public record PolicyEndpoint(PolicyReload policy) {

    private static final int UNPROCESSABLE = 422;

    @ReadOperation
    public Report latest() {
        return policy.latest();
    }

    /** Reads the file again; 422 with every mistake when it is refused. */
    @WriteOperation
    public WebEndpointResponse<Report> reload() {
        Report report = policy.reload();
        return new WebEndpointResponse<>(
                report, report.result() == Result.REFUSED ? UNPROCESSABLE : WebEndpointResponse.STATUS_OK);
    }
}
