package io.fairgate.spring.exchange;

/**
 * Compares names of headers as an upstream may that does not distinguish punctuation. Programs behind CGI, WSGI and
 * similar interfaces see {@code X-Tenant-Id}, {@code x_tenant_id} and {@code X.Tenant.Id} all as
 * {@code HTTP_X_TENANT_ID}.
 */
public final class HeaderAlias {

    private HeaderAlias() {}

    public static boolean isSame(String name, String other) {
        return name.length() == other.length() && startsWith(name, other);
    }

    public static boolean startsWith(String name, String prefix) {
        if (name.length() < prefix.length()) {
            return false;
        }
        for (int i = 0; i < prefix.length(); i++) {
            if (folded(name.charAt(i)) != folded(prefix.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    /** Compares character by character, without a copy of the name: this runs for each header of each request. */
    private static char folded(char c) {
        if (c >= 'A' && c <= 'Z') {
            return (char) (c + ('a' - 'A'));
        }
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '-';
    }
}
