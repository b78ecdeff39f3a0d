import { atOnce } from "../../src/primitives/steps.ts";
import { bloomPlacesInSteps, hasOneOf } from "../../src/types/bloom.ts";

/** False when the entry is certainly absent; true when it may be present. */
export function mayContain(bloom: Uint8Array, entry: Uint8Array): boolean {
  return hasOneOf(bloom, 0, atOnce(bloomPlacesInSteps([entry])));
}
