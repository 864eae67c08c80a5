package io.fairgate.spring.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.policy.CredentialHeader;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.http.HttpHeaders;

class CredentialExtractorTest {

    private static final CredentialExtractor BEARER = extractor("Bearer");

    private static CredentialExtractor extractor(@Nullable String scheme) {
        return new CredentialExtractor(new CredentialHeader("Authorization", scheme, false));
    }

    private static @Nullable String credential(CredentialExtractor extractor, String... values) {
        String value = extractor.value(headers(values));
        return value == null ? null : value.strip();
    }

    private static HttpHeaders headers(String... values) {
        HttpHeaders headers = new HttpHeaders();
        for (String value : values) {
            headers.add("Authorization", value);
        }
        return headers;
    }

    @ParameterizedTest
    @CsvSource({
        "'Bearer abc', abc",
        "'bearer   abc', abc",
        "'Bearer\tabc', abc",
        "'Basic abc', ",
        "'Bearers abc', ",
        "'MyBearer abc', "
    })
    void a_credential_follows_its_scheme(String value, String credential) {
        assertThat(credential(BEARER, value)).isEqualTo(credential);
        assertThat(BEARER.carries(value)).isEqualTo(credential != null);
    }

    /** An upstream that searches the line for the scheme would trust an unverified credential. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "x, Bearer forged",
                "Basic eA==, bearer forged",
                "Basic xBearer\tforged",
                "Bearer good, Bearer forged",
                "Bearer good, x Bearer forged"
            })
    void a_scheme_that_is_not_first_makes_the_field_malformed(String value) {
        assertThatThrownBy(() -> BEARER.value(headers(value))).isInstanceOf(IdentityRefusedException.class);
        assertThat(BEARER.carries(value)).isTrue();
    }

    @Test
    void the_credential_must_occur_in_exactly_one_line() {
        assertThat(credential(BEARER, "Basic eA==", "Bearer good")).isEqualTo("good");
        assertThatThrownBy(() -> BEARER.value(headers("Bearer good", "x, Bearer forged")))
                .isInstanceOf(IdentityRefusedException.class);
        assertThatThrownBy(() -> BEARER.value(headers("Bearer "))).isInstanceOf(IdentityRefusedException.class);
    }

    @Test
    void without_a_scheme_the_whole_value_is_the_credential() {
        assertThat(credential(extractor(null), "Bearer abc")).isEqualTo("Bearer abc");
    }
}
