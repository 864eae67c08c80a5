package io.fairgate.spring.policyfile;

import io.fairgate.config.model.Mistake;
import io.fairgate.config.model.Warning;
import io.fairgate.spring.policyfile.PolicyReload.Report;
import io.fairgate.spring.policyfile.PolicyReload.Result;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;

/**
 * {@code /actuator/policy}: the result of the latest reload of the policy file, and below it, as {@code text}, the file that is in force; POST
 * reloads it now.
 */
@WebEndpoint(id = "policy")
public record PolicyEndpoint(PolicyReload policy) {

    private static final int UNPROCESSABLE = 422;

    /** A report with mistakes and warnings as {@code check} prints them. */
    public record PrintedReport(
            Result result,
            Instant at,
            String file,
            String contents,
            String sha256,
            Instant since,
            List<String> mistakes,
            List<String> warnings) {

        static PrintedReport of(Report report) {
            return new PrintedReport(
                    report.result(),
                    report.at(),
                    report.file(),
                    report.contents(),
                    report.sha256(),
                    report.since(),
                    report.mistakes().stream().map(Mistake::toString).toList(),
                    report.warnings().stream().map(Warning::toString).toList());
        }
    }

    /**
     * The file in force.
     *
     * @param text as it was read, before placeholders were replaced, so that it has no secret that is in the environment
     */
    public record InForce(String file, String text) {}

    /** The file in force; null, which is answered with 404, when it is in no file, or another part is asked for. */
    @ReadOperation
    public @Nullable InForce part(@Selector String part) {
        String text = policy.text();
        return part.equals("text") && !text.isEmpty()
                ? new InForce(policy.latest().file(), text)
                : null;
    }

    @ReadOperation
    public PrintedReport latest() {
        return PrintedReport.of(policy.latest());
    }

    /** Reads the file again; 422 with every mistake when it is refused. */
    @WriteOperation
    public WebEndpointResponse<PrintedReport> reload() {
        Report report = policy.reload();
        return new WebEndpointResponse<>(
                PrintedReport.of(report),
                report.result() == Result.REFUSED ? UNPROCESSABLE : WebEndpointResponse.STATUS_OK);
    }
}
