package io.fairgate.policy;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Values that are refused from every source of a policy. */
class IdentificationTest {

    @ParameterizedTest
    @ValueSource(strings = {"none", "HS256", "RSA-OAEP", "rs256", ""})
    void only_signatures_with_a_private_key_can_be_allowed(String algorithm) {
        assertThatThrownBy(() -> new TokenRules("i", "a", "tenant", Set.of("RS256", algorithm), Duration.ZERO))
                .hasMessageStartingWith("algorithms: ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://login.example.com/keys",
                "http://localhost/keys",
                "http://127.0.0.1.example.com/keys",
                "http://10.0.0.1/keys",
                "https://somebody@login.example.com/keys",
                "https:///keys",
                "ftp://login.example.com/keys",
                " "
            })
    void insecure_or_incomplete_locations_of_keys_are_refused(String location) {
        assertThatThrownBy(() -> new KeySetLocation(location, Duration.ofMinutes(5)))
                .hasMessageStartingWith("jwks: ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://login.example.com/keys",
                "http://127.0.0.1:8080/keys",
                "http://[::1]:8080/keys",
                "keys.json",
                "/etc/keys.json"
            })
    void https_loopback_and_files_are_accepted_as_sources_of_keys(String location) {
        assertThatCode(() -> new KeySetLocation(location, Duration.ofMinutes(5)))
                .doesNotThrowAnyException();
    }

    @Test
    void a_header_is_read_either_with_or_without_a_scheme() {
        IdentitySource alone = new IdentitySource.ApiKey(new CredentialHeader("Authorization", null, false));
        IdentitySource bearer = new IdentitySource.ApiKey(new CredentialHeader("authorization", "Bearer", false));
        IdentitySource key = new IdentitySource.ApiKey(new CredentialHeader("Authorization", "Key", false));
        assertThatThrownBy(() -> new Identification(List.of(alone, bearer))).hasMessageStartingWith("identify: ");
        assertThatThrownBy(() -> new Identification(List.of(bearer, alone))).hasMessageStartingWith("identify: ");
        assertThatCode(() -> new Identification(List.of(bearer, key))).doesNotThrowAnyException();
    }

    @Test
    void credentials_without_an_identity_source_are_refused() {
        List<IdentitySource> sources =
                List.of(new IdentitySource.ApiKey(new CredentialHeader("X-Api-Key", null, false)));
        assertThatThrownBy(() -> new Identification(
                        sources, null, ApiKeys.NONE, Map.of("spiffe://a", TenantId.of("acme")), TrustedProxies.NONE))
                .hasMessageStartingWith("certificates: ");
        ApiKeys keys = ApiKeys.of(List.of(new ApiKeys.Key(ApiKeyHash.of("key"), TenantId.of("acme"))));
        assertThatThrownBy(() -> new Identification(List.of(), null, keys, Map.of(), TrustedProxies.NONE))
                .hasMessageStartingWith("api-keys: ");
    }
}
