import { againstParent, type HeaderErrorCode } from "../../../src/chain/headerRules.ts";
import { type ForkName, forkAt, isAtLeast } from "../../../src/chainspec/forks.ts";
import { nextBaseFee } from "../../../src/execution/baseFee.ts";
import { rulesOf } from "../../../src/execution/rules.ts";
import { EMPTY_LIST_HASH } from "../../../src/primitives/hash.ts";
import { equalBytes } from "../../../src/primitives/hex.ts";
import { err, ok, type Result } from "../../../src/primitives/result.ts";
import type { NamedHeader } from "../../../src/types/block.ts";
import type { Header } from "../../../src/types/header.ts";
import { nextExcessBlobGas } from "./blobGas.ts";
import { hasDaoMark, MARKED_BLOCKS } from "./daoFork.ts";
import { nextDifficulty } from "./difficulty.ts";
import { type ForeignRules, isProofOfStake } from "./foreignRules.ts";

export type ForeignHeaderErrorCode =
  | HeaderErrorCode
  | "wrongBaseFee"
  | "extraDataTooLong"
  | "noDaoMark"
  | "wrongShape"
  | "wrongExcessBlobGas"
  | "wrongBlobGasUsed";

/** Checks a header, or an ommer's, against its parent by the rules of its chain, without the proof of work. */
export function checkForeignHeader(
  rules: ForeignRules,
  parent: NamedHeader,
  header: Header,
): Result<void, ForeignHeaderErrorCode> {
  const fork = forkAt(rules.spec.forks, header.number, header.timestamp);
  return (
    againstParent(rules.spec, parent, header) ??
    againstTime(parent.header, header) ??
    baseFee(rules, parent.header, header) ??
    extraData(rules, header) ??
    consensus(rules, parent, header, fork) ??
    laterFields(parent.header, header, fork) ??
    ok(undefined)
  );
}

type HeaderCheck = Result<void, ForeignHeaderErrorCode> | undefined;

function againstTime(parent: Header, header: Header): HeaderCheck {
  if (header.timestamp > parent.timestamp) return undefined;
  return refuse("timestampTooEarly", `time ${header.timestamp} is not after ${parent.timestamp}`);
}

/** Unlike under IBFT, the exact value is checked. */
function baseFee({ spec }: ForeignRules, parent: Header, header: Header): HeaderCheck {
  const expected = nextBaseFee(spec, parent, header.timestamp);
  if (header.baseFeePerGas === expected) return undefined;
  return refuse("wrongBaseFee", `base fee ${header.baseFeePerGas}, not ${expected}`);
}

function extraData({ daoForkBlock }: ForeignRules, header: Header): HeaderCheck {
  if (header.extraData.length > MAX_EXTRA_DATA_BYTES)
    return refuse("extraDataTooLong", "too much extra data");
  if (daoForkBlock === undefined || header.number < daoForkBlock) return undefined;
  if (header.number >= daoForkBlock + MARKED_BLOCKS || hasDaoMark(header)) return undefined;
  return refuse("noDaoMark", "the extra data does not name the DAO fork");
}

const MAX_EXTRA_DATA_BYTES = 32;

function consensus(rules: ForeignRules, parent: NamedHeader, header: Header, fork: ForkName): HeaderCheck {
  if (isProofOfStake(rules, header, parent.totalDifficulty)) return stakedConstants(header);
  const expected = rules.fixedDifficulty ?? nextDifficulty(fork, parent.header, header.timestamp);
  if (header.difficulty === expected) return undefined;
  return refuse("wrongDifficulty", `difficulty ${header.difficulty}, not ${expected}`);
}

/** The proof-of-work fields are constant after the merge (EIP-3675). */
function stakedConstants(header: Header): HeaderCheck {
  if (!equalBytes(header.ommersHash, EMPTY_LIST_HASH))
    return refuse("ommersNotEmpty", "ommers after the merge");
  if (header.difficulty !== 0n) return refuse("wrongDifficulty", "a difficulty after the merge");
  return header.nonce.some((byte) => byte !== 0)
    ? refuse("wrongNonce", "a nonce after the merge")
    : undefined;
}

/** Checks the presence of the fields of later forks, and the blob gas. */
function laterFields(parent: Header, header: Header, fork: ForkName): HeaderCheck {
  const shape: readonly (readonly [unknown, ForkName])[] = [
    [header.withdrawalsRoot, "shanghai"],
    [header.blobGasUsed, "cancun"],
    [header.parentBeaconBlockRoot, "cancun"],
    [header.requestsHash, "prague"],
  ];
  for (const [field, since] of shape)
    if ((field !== undefined) !== isAtLeast(fork, since))
      return refuse("wrongShape", `the header does not have the fields of ${fork}`);
  if (header.excessBlobGas === undefined) return undefined;
  const excess = nextExcessBlobGas(fork, parent);
  if (header.excessBlobGas !== excess)
    return refuse("wrongExcessBlobGas", `excess blob gas ${header.excessBlobGas}, not ${excess}`);
  return (header.blobGasUsed ?? 0n) > rulesOf(fork).blobGasLimit
    ? refuse("wrongBlobGasUsed", `blob gas ${header.blobGasUsed} is more than a block may use`)
    : undefined;
}

function refuse(code: ForeignHeaderErrorCode, message: string): Result<void, ForeignHeaderErrorCode> {
  return err({ code, fault: "peer", message });
}
