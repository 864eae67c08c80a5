package io.fairgate.proofs.mutants;

import io.fairgate.proofs.ModelCheck;
import org.jetbrains.lincheck.LincheckAssertionError;

/** Has the model checker look at some scenarios, in a JVM whose pool is a mutant, and says which of them are red. */
final class ModelCheckRun {

    private ModelCheckRun() {}

    public static void main(String[] proofs) {
        ModelCheck.loadClasses();
        for (String proof : proofs) {
            System.out.println((isRed(proof) ? "red: " : "green: ") + proof);
        }
        // The threads of the model checker would go on.
        System.exit(0);
    }

    private static boolean isRed(String proof) {
        try {
            ModelCheck.check(proof);
            return false;
        } catch (LincheckAssertionError e) {
            System.out.println(e.getMessage());
            return true;
        }
    }
}
