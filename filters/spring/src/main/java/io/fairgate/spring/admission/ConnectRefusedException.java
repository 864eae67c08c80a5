package io.fairgate.spring.admission;

import io.fairgate.policy.Policy;
import io.fairgate.spring.refusal.Refusal;
import io.fairgate.spring.refusal.RefusedException;
import java.util.List;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;

/** The request asks for a tunnel, with the method {@code CONNECT}. */
final class ConnectRefusedException extends RefusedException {

    static final String REASON = "connect";

    private static final long serialVersionUID = 1L;

    ConnectRefusedException() {
        super(REASON);
    }

    /**
     * Over HTTP/1.1 the connection is closed: bytes after the request may have been meant for the tunnel, and are not a
     * request.
     */
    @Override
    public Refusal refusal(Policy policy) {
        HttpHeaders headers = new HttpHeaders();
        headers.set(HttpHeaders.ALLOW, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
        headers.set(HttpHeaders.CONNECTION, "close");
        return new Refusal(
                HttpStatus.METHOD_NOT_ALLOWED, REASON, "The gateway opens no tunnels.", List.of(), null, headers);
    }
}
