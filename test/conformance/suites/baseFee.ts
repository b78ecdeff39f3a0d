import { followingBaseFee } from "../../../src/execution/baseFee.ts";
import { readVectorJson } from "../../vectors.ts";
import type { Suite } from "../suite.ts";

type BaseFeeTest = Readonly<
  Record<"parentBaseFee" | "parentGasUsed" | "parentTargetGasUsed" | "expectedBaseFee", number>
>;

/** Besu's table for EIP-1559. Its numbers follow a draft; see the list of expected failures. */
export const BASE_FEE: Suite = {
  name: "basefee",
  total: 121,
  every: 1,
  cases: () =>
    readVectorJson<readonly BaseFeeTest[]>("besu-core", "basefee-test.json").map((test, index) => ({
      id: `${range(test)}, case ${index}: ${test.parentGasUsed} of ${test.parentTargetGasUsed}`,
      run: () => {
        const fee = followingBaseFee({
          baseFeePerGas: BigInt(test.parentBaseFee),
          gasUsed: BigInt(test.parentGasUsed),
          gasTarget: BigInt(test.parentTargetGasUsed),
        });
        return fee === BigInt(test.expectedBaseFee) ? undefined : `${fee}, expected ${test.expectedBaseFee}`;
      },
    })),
};

function range({ parentBaseFee, parentGasUsed, parentTargetGasUsed }: BaseFeeTest): string {
  if (parentGasUsed > 2 * parentTargetGasUsed) return "above the limit";
  if (parentGasUsed > parentTargetGasUsed) return "above the target";
  if (parentGasUsed === parentTargetGasUsed) return "at the target";
  if (parentGasUsed === 0) return "after an empty block";
  const fall = BigInt(parentBaseFee) * BigInt(parentTargetGasUsed - parentGasUsed);
  return fall % (8n * BigInt(parentTargetGasUsed)) === 0n
    ? "below the target, a whole number"
    : "below the target, rounded";
}
