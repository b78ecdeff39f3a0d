import type { Address } from "../../primitives/address.ts";
import { equalBytes } from "../../primitives/hex.ts";
import { err, ok, type Result } from "../../primitives/result.ts";
import { recoverAddress } from "../../primitives/secp256k1.ts";
import { readBlock } from "../../types/block.ts";
import { decodeHeader } from "../../types/header.ts";
import { rootOfTransactionsInSteps } from "../../types/listRoot.ts";
import type { FindTransaction } from "../../types/transaction.ts";
import { type Candidate, candidateOfBlock } from "../candidate.ts";
import type {
  Commit,
  Prepare,
  Proposal,
  ProposalPayload,
  RoundChange,
  RoundId,
  SignedMessage,
} from "../message.ts";
import type { ValidatorSet } from "../validatorSet.ts";
import { MESSAGE_CODES, type MessageCode } from "./encoding.ts";
import { DecodingError, type DecodingErrorCode, isAbsent, partsOf, readRoundId } from "./payloadReader.ts";
import {
  createSignedReader,
  type KnownSigners,
  type Reading,
  type Recover,
  type SignedReader,
} from "./signedReader.ts";

export interface Decoding {
  /** Recovers the signer of a digest. Each takes some 45 µs, and one message may have thousands of signatures. */
  readonly recover?: Recover;
  /** Asked about a message's author before any more expensive decoding; every author is allowed when absent. */
  readonly isAuthorAllowed?: (author: Address) => boolean;
  /** The validator set of the message's height: certificates are checked against it before and during verification. */
  readonly validatorSet?: ValidatorSet | undefined;
  /** Cache of recovered signers. */
  readonly known?: KnownSigners | undefined;
  /** Looks up transactions that need not be decoded again. */
  readonly findTransaction?: FindTransaction;
  /** A block with more transactions is refused without decoding them; no bound when absent. */
  readonly maxTransactions?: number | undefined;
}

/**
 * Decodes one message (its format: encoding.ts) and recovers all its signers, nested ones included; each signature once,
 * however often it is repeated. The message keeps views of `payload`, which the caller must not change. Never throws: errors
 * are the sender's fault.
 *
 * Decoding is strict: canonical RLP, exact counts and lengths, nothing after the end. The only exception: seals in the
 * extra data of a proposed block are ignored. They are not signed, and the candidate does not have them.
 */
export function decodeMessage(
  code: number,
  payload: Uint8Array,
  decoding: Decoding = {},
): Result<SignedMessage, DecodingErrorCode> {
  return readToEnd(readMessage(code, payload, decoding));
}

/** Runs a reading to its end without pauses. */
export function readToEnd<T>(reading: Reading<T>): T {
  for (;;) {
    const step = reading.next();
    if (step.done === true) return step.value;
  }
}

/** Like decodeMessage, with points to pause at: certificates of many validators would block the thread for too long. */
export function* readMessage(
  code: number,
  payload: Uint8Array,
  {
    recover = recoverAddress,
    isAuthorAllowed = () => true,
    validatorSet,
    known,
    findTransaction,
    maxTransactions,
  }: Decoding = {},
): Reading<Result<SignedMessage, DecodingErrorCode>> {
  if (!isMessageCode(code)) return refuse("unknownCode", `no message has code ${code}`);
  if (payload.length > PAYLOAD_LIMITS[code]) {
    return refuse("oversized", `${payload.length} bytes; code ${code} has at most ${PAYLOAD_LIMITS[code]}`);
  }
  try {
    const admit = (author: Address): void => {
      if (!isAuthorAllowed(author))
        throw new DecodingError("unwelcomeAuthor", "the author is not a validator of this height");
    };
    const reader = createSignedReader({ recover, admit, validatorSet, known });
    return ok(
      yield* READERS[code](payload, reader, {
        recover,
        findTransaction,
        maxTransactions,
        isScreened: validatorSet !== undefined,
      }),
    );
  } catch (error) {
    if (error instanceof DecodingError) return refuse(error.code, error.message);
    if (error instanceof RangeError) return refuse("malformed", error.message);
    throw error;
  }
}

/** Height and round of a message, without decoding or validating anything else. */
export function peekRoundId(code: number, payload: Uint8Array): RoundId | undefined {
  if (!isMessageCode(code) || payload.length > PAYLOAD_LIMITS[code]) return undefined;
  try {
    const isBare = code === MESSAGE_CODES.prepare || code === MESSAGE_CODES.commit;
    const [outer] = isBare ? [payload] : partsOf(payload, code === MESSAGE_CODES.proposal ? 3 : 2);
    const [fields] = partsOf(outer, 2);
    return readRoundId(fields);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * Maximum bytes of a payload. Prepare and Commit have a fixed length; messages with blocks are bounded by the size of one frame.
 */
export const PAYLOAD_LIMITS: Readonly<Record<MessageCode, number>> = {
  0: 0xff_fffe,
  1: 117,
  2: 185,
  3: 0xff_fffe,
};

/** Extra data is the only part of a header without a natural bound; this allows a thousand validators and their seals. */
const HEADER_LIMIT_BYTES = 128 * 1024;

interface Lookups {
  readonly recover: Recover;
  readonly findTransaction: FindTransaction | undefined;
  readonly maxTransactions: number | undefined;
  /** Whether a block is decoded only if its header matches the signed digest. */
  readonly isScreened: boolean;
}

type Read = (payload: Uint8Array, reader: SignedReader, lookups: Lookups) => Reading<SignedMessage>;

const READERS: Readonly<Record<MessageCode, Read>> = {
  0: readProposal,
  1: readPrepare,
  2: readCommit,
  3: readRoundChange,
};

function* readProposal(payload: Uint8Array, reader: SignedReader, lookups: Lookups): Reading<Proposal> {
  const [signedPart, blockPart, certificatePart] = partsOf(payload, 3);
  const signed = yield* reader.proposal(signedPart);
  const { round } = signed.payload;
  const certificate = isAbsent(certificatePart)
    ? undefined
    : yield* reader.roundChangeCertificate(certificatePart, round);
  const candidate = yield* readCandidate(blockPart, signed.payload, lookups);
  return { kind: "proposal", signed, candidate, ...(certificate !== undefined && { certificate }) };
}

function* readPrepare(payload: Uint8Array, reader: SignedReader): Reading<Prepare> {
  return { kind: "prepare", signed: yield* reader.prepare(payload) };
}

function* readCommit(payload: Uint8Array, reader: SignedReader, { recover }: Lookups): Reading<Commit> {
  const signed = yield* reader.commit(payload);
  yield "signature";
  return { kind: "commit", signed, sealer: recover(signed.payload.digest, signed.payload.seal) };
}

function* readRoundChange(payload: Uint8Array, reader: SignedReader, lookups: Lookups): Reading<RoundChange> {
  const [signedPart, blockPart] = partsOf(payload, 2);
  const signed = yield* reader.roundChange(signedPart);
  if (isAbsent(blockPart)) return { kind: "roundChange", signed };
  const candidate = yield* readCandidate(blockPart, signed.payload.prepared?.proposal.payload, lookups);
  return { kind: "roundChange", signed, candidate };
}

/**
 * Decodes the block of a message. An IBFT block has neither ommers nor withdrawals (ibft2.md#body). The header is compared
 * with the signed digest before the transactions are decoded, each some 8 µs.
 */
function* readCandidate(
  part: Uint8Array,
  subject: ProposalPayload | undefined,
  { findTransaction: find, maxTransactions, isScreened }: Lookups,
): Reading<Candidate> {
  yield "block";
  const [headerPart] = partsOf(part, 3);
  if (headerPart.length > HEADER_LIMIT_BYTES)
    throw new DecodingError("oversized", `a header of ${headerPart.length} bytes`);
  if (isScreened) checkHeaderBelongs(headerPart, subject);
  const block = yield* readBlock(part, { find, maxTransactions });
  if (!block.ok) throw new DecodingError("malformedBlock", block.error.message);
  if (block.value.ommers.length > 0) throw new DecodingError("malformedBlock", "ommers in an IBFT block");
  const candidate = candidateFrom(block.value);
  yield "block";
  yield* checkBodyBelongs(candidate);
  return candidate;
}

function candidateFrom(block: Parameters<typeof candidateOfBlock>[0]): Candidate {
  const candidate = candidateOfBlock(block);
  if (!candidate.ok) throw new DecodingError("malformedBlock", candidate.error.message);
  return candidate.value;
}

/** A block without a certificate is refused here as well, so that its transactions are not decoded. */
function checkHeaderBelongs(headerPart: Uint8Array, subject: ProposalPayload | undefined): void {
  const header = decodeHeader(headerPart);
  if (!header.ok) throw new DecodingError("malformedBlock", header.error.message);
  const { digest, extra } = candidateFrom({ header: header.value, transactions: [] });
  if (subject === undefined || extra.round !== subject.round || !equalBytes(digest, subject.digest))
    throw new DecodingError("wrongCandidate", "not the block that was signed");
}

/**
 * Only the header is signed. Without this check a relaying peer could attach another body to a Proposal and spoil the round
 * for every node that it reaches before the author does, since only the first Proposal is considered. Likewise the next
 * proposer takes the body of a prepared block from the first RoundChange that includes it.
 */
function* checkBodyBelongs({ header, transactions }: Candidate): Reading<void> {
  const steps = rootOfTransactionsInSteps(transactions);
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) yield "block";
  if (!equalBytes(step.value, header.transactionsRoot)) {
    throw new DecodingError("foreignBody", "the transactions do not match the header's transactions root");
  }
}

export function isMessageCode(code: number): code is MessageCode {
  return code === 0 || code === 1 || code === 2 || code === 3;
}

function refuse(code: DecodingErrorCode, message: string): Result<SignedMessage, DecodingErrorCode> {
  return err({ code, fault: "peer", message });
}
