import type { Logger } from "../../observability/logger.ts";
import type { Address } from "../../primitives/address.ts";
import { dropOldest } from "../../primitives/boundedCache.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { equalBytes, toHex } from "../../primitives/hex.ts";
import type { KeyNotice } from "./notice.ts";

/**
 * Reports notices that two nodes run with one validator's key to the operator: on the nodes with that key, and on all others
 * (ibft2.md#notices-of-a-shared-key). Each key is reported once a minute, and again when its owner reports it after others
 * did.
 */
export class SharedKeyLog {
  private readonly logger: Logger;
  private readonly self: Address;
  private readonly reportedMs = new Map<string, number>();

  constructor(logger: Logger, self: Address) {
    this.logger = logger;
    this.self = self;
  }

  received(notice: KeyNotice, nowMs: number): void {
    const { author, key } = notice;
    const isProven = equalBytes(author, key);
    const name = `${toKey(key)} ${isProven} ${notice.kind === "contradiction"}`;
    if (nowMs - (this.reportedMs.get(name) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return;
    this.reportedMs.delete(name);
    this.reportedMs.set(name, nowMs);
    dropOldest(this.reportedMs, KEYS_REMEMBERED);
    const isOurs = equalBytes(key, this.self);
    const fields = { validator: key, reportedBy: author };
    if (isOurs) this.logger.error(fields, describeOwn(this.self, sourceOf(notice)));
    else this.logger.warn(fields, describeOther(notice));
  }
}

/** Names the source of a notice about our key, and what it observed. */
function sourceOf({ kind, author, key }: KeyNotice): string {
  if (equalBytes(author, key)) return "another node that has it says so";
  const name = `the validator ${toHex(author)}`;
  return kind === "contradiction"
    ? `${name} has two different blocks of one round signed with it`
    : `${name} is connected to by both`;
}

function describeOwn(self: Address, source: string): string {
  return `TWO NODES RUN WITH THE KEY of the validator ${toHex(self)}, which is this node's: ${source}. ${RISK} ${REMEDY}`;
}

function describeOther({ kind, author, key }: KeyNotice): string {
  const source = equalBytes(author, key) ? "one of the two" : `the validator ${toHex(author)}`;
  const isSure = kind !== "contradiction";
  return (
    `${isSure ? "" : "it seems that "}two nodes run with the key of the validator ${toHex(key)}${isSure ? "" : ", or it is Byzantine"}, ` +
    `says ${source}. ${RISK} Tell its operator: one of the two must be stopped at once`
  );
}

/** The risk of two nodes with one validator's key. */
export const RISK =
  "Two nodes with one key can vote for two different blocks of one height, as a Byzantine validator does, and can fork the chain.";

export const REMEDY = "Stop one of them at once.";

const REPEAT_MS = 60_000;
const KEYS_REMEMBERED = 256;
