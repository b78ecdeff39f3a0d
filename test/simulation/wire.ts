import type { MessageCodec } from "../../src/consensus/router/messageCodec.ts";
import type { Authored, Payload, RoundChangePayload, Signed } from "../../src/ibft/message.ts";
import { MESSAGE_CODES, messageHash } from "../../src/ibft/payloadCodec.ts";
import { type Address, asAddress } from "../../src/primitives/address.ts";
import { toDigits } from "../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import { err, ok } from "../../src/primitives/result.ts";
import type { Signature } from "../../src/primitives/secp256k1.ts";
import { isTokenOf, toyAddress } from "../builders/toyChain.ts";

/** What a signature that was tampered with recovers to: some address that belongs to nobody. */
const STRANGER = toyAddress(200);

/** The signer of a token, or undefined when it is not about `digest`. */
export function signerOfToken(signature: Signature, digest: Uint8Array): Address | undefined {
  const signer = asAddress(bigintToFixedBytes(signature.s, 20));
  return isTokenOf(signature, signer, digest) ? signer : undefined;
}

/**
 * What the wire makes of the words of a liar: signers are recovered from the signatures, whatever the liar says who
 * signed, nested ones too. So a liar can use what it has heard, and sign as itself, and nothing else.
 */
export function recoverSigners(message: Authored): Authored {
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
  return { payload, signature, author: signerOfToken(signature, messageHash(payload)) ?? STRANGER };
}

function recoveredRoundChange(signed: Signed<RoundChangePayload>): Signed<RoundChangePayload> {
  const { prepared } = signed.payload;
  if (prepared === undefined) return recovered(signed);
  const { proposal, prepares } = prepared;
  const certificate = { proposal: recovered(proposal), prepares: prepares.map(recovered) };
  return recovered({ ...signed, payload: { ...signed.payload, prepared: certificate } });
}

/**
 * Messages that are passed by reference, and still known by their content: the same words of the same author are the
 * same message. Never a copy, never a recovery; what a liar writes has been through `recoverSigners`.
 */
export function createTokenCodec(): MessageCodec {
  const payloads = new WeakMap<Authored, Uint8Array>();
  const letters = new WeakMap<Uint8Array, { readonly message: Authored; readonly key: string }>();
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

/** No longer than the shortest kind may be. */
const NOMINAL_BYTES = 100;

/** A token is known by its signer and what is signed; if that was tampered with, another signer was recovered. */
function contentKey(message: Authored): string {
  const { signature, author, payload } = message.signed;
  const place = `${message.kind} ${payload.height}/${payload.round} ${author.at(-1)}`;
  const key = `${place} ${tokenKey(signature)}`;
  if (message.kind === "prepare" || message.kind === "commit") return key;
  const block = message.candidate === undefined ? "" : toDigits(message.candidate.digest);
  if (message.kind === "roundChange") return `${key} ${block}`;
  return `${key} ${block} ${message.certificate?.map((asked) => tokenKey(asked.signature)).join(" ")}`;
}

const tokenKey = ({ r, s }: Signature): string => `${r.toString(36)}/${s}`;
