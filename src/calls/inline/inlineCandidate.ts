import type { Overrides, SimulationJob } from "../../execution/simulation/callRequest.ts";
import { toKey } from "../../primitives/byteKey.ts";

/** Whether the work before the first instruction of a job takes at most some tenths of a millisecond. */
export function isInlineCandidate({ call, overrides }: SimulationJob): boolean {
  const { to, data, accessList = [], blobVersionedHashes = [], authorizationList = [] } = call;
  // The code of a creation is hashed, analysed and run once.
  if (to === undefined || (data?.length ?? 0) > DATA_LIMIT_BYTES) return false;
  // The signer of each authorization is recovered in each run.
  if (authorizationList.length > 0) return false;
  const listed = accessList.reduce((sum, { storageKeys }) => sum + storageKeys.length, accessList.length);
  if (listed + blobVersionedHashes.length > LIST_LIMIT) return false;
  return overrides === undefined || areSmall(overrides);
}

const DATA_LIMIT_BYTES = 16 * 1024;
const LIST_LIMIT = 64;
const OVERRIDDEN_LIMIT = 64;
/** Code of overrides is hashed and analysed in each run. */
const OVERRIDDEN_CODE_LIMIT_BYTES = 4096;

function areSmall({ accounts = [] }: Overrides): boolean {
  let count = accounts.length;
  let codeBytes = 0;
  for (const { storage, code } of accounts) {
    count += storage?.slots.length ?? 0;
    codeBytes += code?.length ?? 0;
  }
  return count <= OVERRIDDEN_LIMIT && codeBytes <= OVERRIDDEN_CODE_LIMIT_BYTES;
}

/** Key of calls that take about the same time: kind of job, whether it has overrides, contract, function selector. */
export function callName({ kind, call, overrides }: SimulationJob): string {
  const { to, data } = call;
  const contract = to === undefined ? "" : toKey(to);
  const selector = data === undefined ? "" : toKey(data.subarray(0, 4));
  return `${kind}${overrides === undefined ? "" : "*"} ${contract} ${selector}`;
}
