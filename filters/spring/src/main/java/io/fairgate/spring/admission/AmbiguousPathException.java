package io.fairgate.spring.admission;

import io.fairgate.policy.Policy;
import io.fairgate.spring.refusal.Refusal;
import io.fairgate.spring.refusal.RefusedException;
import org.springframework.http.HttpStatus;

/** Servers read the path of the request in different ways. */
final class AmbiguousPathException extends RefusedException {

    static final String REASON = "ambiguous-path";

    private static final long serialVersionUID = 1L;

    AmbiguousPathException() {
        super(REASON);
    }

    @Override
    public Refusal refusal(Policy policy) {
        return Refusal.of(
                HttpStatus.BAD_REQUEST,
                REASON,
                "The path has an empty segment, a segment of dots, or an encoded slash, which servers read in different ways.");
    }
}
