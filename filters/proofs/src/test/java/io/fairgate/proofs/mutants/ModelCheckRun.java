package io.fairgate.proofs.mutants;

import io.fairgate.proofs.ModelCheck;
import org.jetbrains.lincheck.LincheckAssertionError;

/** Runs the model checker on some scenarios, in a JVM whose pool is a mutant, and prints which of them are red. */
final class ModelCheckRun {

    private ModelCheckRun() {}

    public static void main(String[] proofs) {
        ModelCheck.loadClasses();
        for (String proof : proofs) {
            System.out.println((isRed(proof) ? "red: " : "green: ") + proof);
        }
        // Also ends the threads of the model checker.
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
