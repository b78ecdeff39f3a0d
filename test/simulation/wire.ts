import type { MessageCodec } from "../../src/consensus/router/messageCodec.ts";
import { MESSAGE_CODES, messageHash } from "../../src/ibft/codec/encoding.ts";
import type { Payload, RoundChangePayload, Signed, SignedMessage } from "../../src/ibft/message.ts";
import { type Address, asAddress } from "../../src/primitives/address.ts";
import { toDigits } from "../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import { err, ok } from "../../src/primitives/result.ts";
import type { Signature } from "../../src/primitives/secp256k1.ts";
import { isTokenOf, toyAddress } from "../builders/toyChain.ts";

/** The address recovered from a modified signature: one that is not a node's. */
const OUTSIDER = toyAddress(200);

/** The signer of a token, or undefined when it does not sign `digest`. */
export function signerOfToken(signature: Signature, digest: Uint8Array): Address | undefined {
  const signer = asAddress(bigintToFixedBytes(signature.s, 20));
  return isTokenOf(signature, signer, digest) ? signer : undefined;
}

/**
 * A Byzantine validator's message as received: signers are recovered from the signatures, whatever it claims,
 * nested ones included. So it can only reuse received messages and sign with its own key.
 */
export function recoverSigners(message: SignedMessage): SignedMessage {
  switch (message.kind) {
    case "proposal":
      return {
        ...message,
        signed: recovered(message.signed),
        ...(message.certificate && { certificate: message.certificate.map(recoveredRoundChange) }),
      };
    case "prepare":
      return { ...message, signed: recovered(message.signed) };
    case "commit": {
      const { digest, seal } = message.signed.payload;
      return { kind: "commit", signed: recovered(message.signed), sealer: signerOfToken(seal, digest) };
    }
    case "roundChange":
      return { ...message, signed: recoveredRoundChange(message.signed) };
  }
}

function recovered<P extends Payload>({ payload, signature }: Signed<P>): Signed<P> {
  return { payload, signature, author: signerOfToken(signature, messageHash(payload)) ?? OUTSIDER };
}

function recoveredRoundChange(signed: Signed<RoundChangePayload>): Signed<RoundChangePayload> {
  const { prepared } = signed.payload;
  if (prepared === undefined) return recovered(signed);
  const { proposal, prepares } = prepared;
  const certificate = { proposal: recovered(proposal), prepares: prepares.map(recovered) };
  return recovered({ ...signed, payload: { ...signed.payload, prepared: certificate } });
}

/**
 * A codec that passes messages by reference and identifies them by content: equal messages of one author are the
 * same. It neither copies nor recovers; a Byzantine validator's messages have passed `recoverSigners`.
 */
export function createTokenCodec(): MessageCodec {
  const payloads = new WeakMap<SignedMessage, Uint8Array>();
  const letters = new WeakMap<Uint8Array, { readonly message: SignedMessage; readonly key: string }>();
  return {
    encode(message) {
      const payload = payloads.get(message) ?? new Uint8Array(NOMINAL_BYTES);
      payloads.set(message, payload);
      if (!letters.has(payload)) letters.set(payload, { message, key: contentKey(message) });
      return { code: MESSAGE_CODES[message.kind], payload };
    },
    // biome-ignore lint/correctness/useYield: what costs nothing needs no pause.
    *read(_code, payload, { isAuthorAllowed }) {
      const message = letters.get(payload)?.message;
      if (message === undefined) return err({ code: "malformed", fault: "peer", message: "no letter" });
      return isAuthorAllowed(message.signed.author)
        ? ok(message)
        : err({ code: "unwelcomeAuthor", fault: "peer", message: "the author has no say" });
    },
    peekRoundId: (_code, payload) => letters.get(payload)?.message.signed.payload,
    keyOf: (_code, payload) => letters.get(payload)?.key ?? "",
  };
}

/** Not longer than the shortest kind may be. */
const NOMINAL_BYTES = 100;

/** A token is identified by its signer and digest; a modified one recovers to another signer. */
function contentKey(message: SignedMessage): string {
  const { signature, author, payload } = message.signed;
  const place = `${message.kind} ${payload.height}/${payload.round} ${author.at(-1)}`;
  const key = `${place} ${tokenKey(signature)}`;
  if (message.kind === "prepare" || message.kind === "commit") return key;
  const block = message.candidate === undefined ? "" : toDigits(message.candidate.digest);
  if (message.kind === "roundChange") return `${key} ${block}`;
  return `${key} ${block} ${message.certificate?.map((asked) => tokenKey(asked.signature)).join(" ")}`;
}

const tokenKey = ({ r, s }: Signature): string => `${r.toString(36)}/${s}`;
