package io.fairgate.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.tenant.TenantId;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ApiKeysTest {

    private static final TenantId ACME = TenantId.of("acme");
    private static final TenantId GLOBEX = TenantId.of("globex");
    private static final String ID = "01234567";

    private static ApiKeyHash hash(String end) {
        return new ApiKeyHash(ID + "0".repeat(56 - end.length()) + end);
    }

    @Test
    void keys_with_the_same_id_are_distinguished_by_the_whole_digest() {
        ApiKeys keys = ApiKeys.of(List.of(new ApiKeys.Key(hash("a"), ACME), new ApiKeys.Key(hash("b"), GLOBEX)));
        assertThat(keys.owner(hash("a"))).isEqualTo(ACME);
        assertThat(keys.owner(hash("b"))).isEqualTo(GLOBEX);
        assertThat(keys.owner(hash("c"))).isNull();
    }

    @Test
    void several_keys_of_a_tenant_are_valid_at_once() {
        ApiKeys keys = ApiKeys.of(List.of(
                new ApiKeys.Key(ApiKeyHash.of("old key"), ACME), new ApiKeys.Key(ApiKeyHash.of("new key"), ACME)));
        assertThat(keys.owner(ApiKeyHash.of("old key"))).isEqualTo(ACME);
        assertThat(keys.owner(ApiKeyHash.of("new key"))).isEqualTo(ACME);
    }

    @Test
    void a_key_has_one_owner() {
        assertThatThrownBy(
                        () -> ApiKeys.of(List.of(new ApiKeys.Key(hash("a"), ACME), new ApiKeys.Key(hash("a"), GLOBEX))))
                .hasMessage("api-keys: sha256:01234567… of acme and of globex (expected: each key once)");
    }

    @Test
    void a_digest_is_plain_sha_256() {
        assertThat(ApiKeyHash.of("abc").text())
                .isEqualTo("sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assertThat(ApiKeyHash.of("abc")).hasToString("sha256:ba7816bf…");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "fg_secret",
                "sha256:fg_secret",
                "sha256:BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
            })
    void a_malformed_digest_is_refused_and_not_shown(String text) {
        assertThatThrownBy(() -> ApiKeyHash.parse(text))
                .hasMessageContaining("not shown because they may be a key")
                .hasMessageNotContaining("secret")
                .hasMessageNotContaining("BA78")
                .hasMessageNotContaining("ba78");
    }
}
