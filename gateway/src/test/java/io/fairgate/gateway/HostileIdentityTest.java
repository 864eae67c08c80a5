package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Hostile values in the place of an id, also if unknown ids are allowed. The only member is acme. */
class HostileIdentityTest {

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    @BeforeAll
    static void start() {
        both.start("""
                tenants:
                  identify:
                    - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
                  unknown: guests
                  plans: { plan: {}, guests: { max-in-flight: 1 } }
                  members: { acme: { plan: plan } }
                """ + GatewayAndUpstream.FAIR_ROUTE);
    }

    /** Resolves escapes: the bytes themselves are sent. */
    @ParameterizedTest(name = "{0}: {2}")
    @CsvSource(delimiter = '|', ignoreLeadingAndTrailingWhitespace = true, quoteCharacter = '\'', textBlock = """
            the member                        | 'acme'                          | 200
            an id of an unknown tenant        | 'acme2'                         | 200
            the name of the shared tenant     | '_unknown'                      | 200
            the tag of all others             | '_other'                        | 200
            a path                            | '..'                            | 200
            NUL                               | 'acme\\0'                       | 400
            a line feed                       | 'acme\\n'                       | 400
            a line feed, and a header         | 'acme\\nX-Tenant-Id: globex'    | 400
            a return                          | 'acme\\rX'                      | 400
            a folded line                     | 'acme\\r\\n globex'             | 400
            an escape sequence                | 'acme\\e[2J'                    | 400
            a tab                             | 'ac\\tme'                       | 400
            a delete                          | 'acme\\d'                       | 400
            blank                             | ' '                             | 400
            twice                             | 'acme\\r\\nX-Tenant-Id: acme'   | 400
            twice, in other letters           | 'acme\\r\\nx-tenant-id: globex' | 400
            joined by a comma                 | 'acme,globex'                   | 400
            joined by a comma and a space     | 'acme, acme'                    | 400
            a letter that looks the same      | '\\u0430cme'                    | 400
            an accented letter                | 'acm\\u00ea'                     | 400
            full width                        | '\\uff41cme'                    | 400
            a combining accent                | 'acme\\u0301'                   | 400
            no width                          | 'ac\\u200bme'                   | 400
            from right to left                | '\\u202eacme'                   | 400
            a key's hash tag                  | '{acme}'                        | 400
            out of a hash tag                 | 'a}{acme'                       | 400
            a key's separator                 | 'fairgate:acme'                 | 400
            a pattern                         | 'acme*'                         | 400
            a command's quote                 | 'acme"'                         | 400
            a script                          | '<script>'                      | 400
            an expression                     | '#{1+1}'                        | 400
            a look-up                         | '${jndi:ldap://x/y}'            | 400
            a format                          | '%s%n'                          | 400
            a path out of a folder            | '../acme'                       | 400
            percent-encoded                   | 'acm%65'                        | 400
            an empty pair of quotes           | '""'                            | 400
            10 KB                             | 'LONG'                          | 431
            """)
    void a_hostile_id_is_refused_and_not_forwarded(String what, String id, int status) throws Exception {
        String answer = both.raw("/fair/x", "X-Tenant-Id: " + resolved(id.isBlank() ? " " : id));
        assertThat(answer).as(what).startsWith("HTTP/1.1 " + status + " ");
        assertThat(both.upstream().requests()).hasSize(status == 200 ? 1 : 0);
        if (status == 400) {
            assertThat(answer.toLowerCase(Locale.ROOT)).doesNotContain("acme", "script", "jndi");
        }
    }

    @Test
    void ids_are_case_sensitive() throws Exception {
        assertThat(both.ask("/fair/x", "X-Tenant-Id", "ACME").status()).isEqualTo(200);
        assertThat(both.gateway().pool("pool").tenants())
                .extracting(tenant -> tenant.tenant().value())
                .isSubsetOf("acme", "_unknown");
    }

    /** As bytes of UTF-8, one character each, which is how the client writes them. */
    private static String resolved(String id) {
        String text = id.replace("LONG", "a".repeat(10_000))
                .replace("\\0", "\0")
                .replace("\\n", "\n")
                .replace("\\r", "\r")
                .replace("\\t", "\t")
                .replace("\\e", "\u001b")
                .replace("\\d", "\u007f");
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            if (text.startsWith("\\u", i)) {
                out.append((char) Integer.parseInt(text.substring(i + 2, i + 6), 16));
                i += 5;
            } else {
                out.append(text.charAt(i));
            }
        }
        return new String(out.toString().getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }
}
