package io.fairgate.spring.policyfile;

import io.fairgate.spring.policyfile.PolicyReload.Report;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.actuate.info.InfoContributor;

/** The policy in force in {@code /actuator/info}. */
record PolicyInfo(PolicyReload policy) implements InfoContributor {

    @Override
    public void contribute(Info.Builder builder) {
        Report latest = policy.latest();
        Map<String, Object> inForce = new LinkedHashMap<>();
        inForce.put("file", latest.file());
        inForce.put("contents", latest.contents());
        inForce.put("sha256", latest.sha256());
        inForce.put("since", latest.since());
        builder.withDetail("policy", inForce);
    }
}
