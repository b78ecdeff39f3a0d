import { describe, expect, it } from "vitest";
import { decodeMessage, peekRoundId } from "../../../src/ibft/codec/decoding.ts";
import { encodeMessage, messageHash } from "../../../src/ibft/codec/encoding.ts";
import type { PreparedCertificate, Signed, SignedMessage } from "../../../src/ibft/message.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { encodeSignature, recoverAddress } from "../../../src/primitives/secp256k1.ts";
import {
  decoded,
  derivedMessage,
  derivedMessages,
  NETWORKS,
  type RecordedCertificate,
  type RecordedMessage,
  recordedMessages,
} from "../../builders/recordedMessages.ts";
import { describeWithSheet, describeWithVectors } from "../../vectors.ts";

describeWithVectors("messages of real validators", () => {
  it.each(NETWORKS)("decode to the recorded facts, and encode to the same bytes again: %s", (network) => {
    const recorded = recordedMessages(network);
    expect(recorded.length).toBe(network === "net1" ? 64 : 209);
    for (const { code, data, ...facts } of recorded) {
      const message = decoded(code, hexToBytes(data));
      // A copy, for which no encoding is kept.
      const encoded = encodeMessage(structuredClone(message));
      expect({ code: encoded.code, data: toHex(encoded.payload) }, facts.id).toEqual({ code, data });
      expect(factsOf(message), facts.id).toEqual(factsIn(facts));
      const { height, round } = message.signed.payload;
      expect(peekRoundId(code, hexToBytes(data)), facts.id).toEqual({ height, round });
    }
  });

  it.each(derivedMessages())("are as computed independently: $name", ({ code, message, ...expected }) => {
    const read = decoded(code, hexToBytes(message));
    expect(toHex(encodeMessage(structuredClone(read)).payload)).toBe(message);
    expect(toHex(encodeMessage(read).payload)).toBe(message);
    expect(toHex(read.signed.author)).toBe(expected.author);
    expect(toHex(messageHash(read.signed.payload))).toBe(expected.signHash);
    if (read.kind === "commit") expect(toHex(read.sealer ?? new Uint8Array())).toBe(expected.author);
  });

  it("recover each signature once, though certificates repeat one another", () => {
    const { code, message } = derivedMessage("proposal-round1-key2-with-round-change-certificate");
    let recoveries = 0;
    const read = decodeMessage(code, hexToBytes(message), {
      recover(digest, signature) {
        recoveries += 1;
        return recoverAddress(digest, signature);
      },
    });
    // The proposal, three round changes, and one of these with a proposal and two prepares.
    expect(read.ok && recoveries).toBe(7);
  });

  it("are decoded no further than the author when it is not allowed", () => {
    const { code, message } = derivedMessage("proposal-round1-key2-with-round-change-certificate");
    let recoveries = 0;
    const read = decodeMessage(code, hexToBytes(message), {
      recover(digest, signature) {
        recoveries += 1;
        return recoverAddress(digest, signature);
      },
      isAuthorAllowed: () => false,
    });
    expect(read).toMatchObject({ ok: false, error: { code: "unwelcomeAuthor", fault: "peer" } });
    expect(recoveries).toBe(1);
  });
});

describeWithSheet("the fact sheet's messages", "ibft2.md", (sheet) => {
  it("are among those computed", () => {
    const computed = new Set(derivedMessages().map(({ message }) => message));
    const section = sheet.slice(sheet.indexOf("### 15.6"), sheet.indexOf("### 15.7"));
    const printed = [
      ...section.matchAll(/code ([0-3]):?\n`([0-9a-f]+)`|^Prepare by key 3:\n`([0-9a-f]+)`/gm),
    ];
    const messages = printed.map(([, , coded, prepare]) => `0x${coded ?? prepare}`);
    expect(messages.length).toBeGreaterThanOrEqual(6);
    for (const message of messages) expect(computed.has(message as `0x${string}`), message).toBe(true);
  });
});

describe("bytes that are not a message", () => {
  it("are refused with a reason", () => {
    const reasonOf = (code: number, payload: Uint8Array): string => {
      const read = decodeMessage(code, payload);
      return read.ok ? "read" : read.error.code;
    };
    expect(reasonOf(4, new Uint8Array())).toBe("unknownCode");
    expect(reasonOf(-1, new Uint8Array())).toBe("unknownCode");
    for (const code of [0, 1, 2, 3]) expect(reasonOf(code, new Uint8Array())).toBe("malformed");
    expect(reasonOf(1, new Uint8Array(118))).toBe("oversized");
    expect(reasonOf(2, new Uint8Array(10_000_000))).toBe("oversized");
    expect(reasonOf(0, new Uint8Array(0xff_ffff))).toBe("oversized");
    expect(reasonOf(3, new Uint8Array(1_000_000).fill(0xc1))).toBe("malformed");
  });
});

function factsIn(recorded: Omit<RecordedMessage, "code" | "data">): unknown {
  const { kind, height, round, author, signHash, signature, digest, commitSeal } = recorded;
  const { prepared, block, roundChangeCertificate } = recorded;
  return {
    kind: kind.charAt(0).toLowerCase() + kind.slice(1),
    height,
    round,
    author,
    signHash,
    signature,
    ...(digest !== undefined && { digest }),
    ...(commitSeal !== undefined && { commitSeal, sealer: author }),
    ...(prepared !== undefined && { prepared }),
    ...(block !== undefined && { block }),
    ...(roundChangeCertificate !== undefined && { roundChangeCertificate }),
  };
}

/** The facts that the recording has. */
function factsOf(message: SignedMessage): unknown {
  const { kind, signed } = message;
  const { author, payload, signature } = signed;
  const common = {
    kind,
    height: Number(payload.height),
    round: payload.round,
    author: toHex(author),
    signHash: toHex(messageHash(payload)),
    signature: toHex(encodeSignature(signature)),
  };
  switch (message.kind) {
    case "prepare":
      return { ...common, digest: toHex(message.signed.payload.digest) };
    case "commit":
      return {
        ...common,
        digest: toHex(message.signed.payload.digest),
        commitSeal: toHex(encodeSignature(message.signed.payload.seal)),
        sealer: toHex(message.sealer ?? new Uint8Array()),
      };
    case "proposal":
      return {
        ...common,
        digest: toHex(message.signed.payload.digest),
        block: blockFacts(message.candidate),
        roundChangeCertificate: message.certificate?.map(roundChangeFacts) ?? null,
      };
    case "roundChange":
      return {
        ...common,
        prepared: certificateFacts(message.signed.payload.prepared),
        block: message.candidate === undefined ? null : blockFacts(message.candidate),
      };
  }
}

function blockFacts({ header, extra, transactions, digest, hash }: ProposalCandidate): unknown {
  const { vote } = extra;
  return {
    number: Number(header.number),
    hash: toHex(hash),
    digest: toHex(digest),
    coinbase: toHex(header.coinbase),
    round: extra.round,
    timestamp: Number(header.timestamp),
    vote: vote === undefined ? null : { recipient: toHex(vote.recipient), add: vote.kind === "add" },
    txs: transactions.length,
  };
}

type ProposalCandidate = Extract<SignedMessage, { kind: "proposal" }>["candidate"];

function roundChangeFacts({
  author,
  payload,
}: Signed<Extract<SignedMessage, { kind: "roundChange" }>["signed"]["payload"]>): RecordedCertificate {
  return { author: toHex(author), prepared: certificateFacts(payload.prepared) };
}

function certificateFacts(prepared: PreparedCertificate | undefined): RecordedCertificate["prepared"] {
  if (prepared === undefined) return null;
  const { proposal, prepares } = prepared;
  return {
    round: proposal.payload.round,
    proposer: toHex(proposal.author),
    digest: toHex(proposal.payload.digest),
    prepares: prepares.map(({ author }) => toHex(author)),
  };
}
