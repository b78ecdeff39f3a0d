import type { RecoverSigners } from "../../src/chain/signerRecovery.ts";
import { recoverItem } from "../../src/primitives/recoveryBatch.ts";

/** Recovers on the calling thread. */
export const recoverSignersHere: RecoverSigners = async (items) => items.map(recoverItem);
