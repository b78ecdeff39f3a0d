import { describe, expect, it } from "vitest";
import type { MessageRouter } from "../../../src/consensus/router/messageRouter.ts";
import { ValidatorNodes } from "../../../src/consensus/router/validatorNodes.ts";
import { encodeMessage, signPayload } from "../../../src/ibft/codec/encoding.ts";
import type { SignedMessage } from "../../../src/ibft/message.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import type { Address } from "../../../src/primitives/address.ts";
import { equalBytes, includesBytes } from "../../../src/primitives/hex.ts";
import { sign } from "../../../src/primitives/secp256k1.ts";
import { aMessageRouter } from "../../builders/aMessageRouter.ts";
import { accountFromSeed, type TestAccount } from "../../builders/testAccounts.ts";
import { aCandidate, aGenesisHead, aSchedule, headOf } from "../../builders/toyChain.ts";

/** Validators a to d, of which we are a, and the nodes x to z of other keys. */
const ACCOUNTS = new Map<string, TestAccount>(
  [..."abcdxyz"].map((letter, index) => [letter, accountFromSeed(index + 1)]),
);
const addressOf = (letter: string): Address => accountOf(letter).address;
const namesOf = (addresses: readonly Address[]): string =>
  [...ACCOUNTS]
    .flatMap(([letter, { address }]) => (includesBytes(addresses, address) ? [letter] : []))
    .join("");

function accountOf(letter: string): TestAccount {
  const found = ACCOUNTS.get(letter);
  if (found === undefined) throw new Error(`nobody is called ${letter}`);
  return found;
}

function roundChange(author: string, round = 1): SignedMessage {
  const { address: self, privateKey } = accountOf(author);
  const signer = { self, sign: (digest: Uint8Array) => sign(digest, privateKey) };
  return { kind: "roundChange", signed: signPayload(signer, { kind: "roundChange", height: 1n, round }) };
}

function proposal(author: string): SignedMessage {
  const { address: self, privateKey } = accountOf(author);
  const candidate = { ...aCandidate(genesis), transactions: [] };
  const vanity = new Uint8Array(2_000);
  const signer = { self, sign: (digest: Uint8Array) => sign(digest, privateKey) };
  const { digest } = candidate;
  const header = { ...candidate.header, extraData: vanity };
  return {
    kind: "proposal",
    signed: signPayload(signer, { kind: "proposal", height: 1n, round: 0, digest }),
    candidate: { ...candidate, header },
  };
}

const validators = [..."abcd"].map(addressOf);
const genesis = aGenesisHead(validators);

function aRouter(change: { readonly connected?: string; readonly hasOtherNodeKey?: boolean } = {}) {
  const sent: string[] = [];
  const penalised: string[] = [];
  const schedule = aSchedule();
  const router = aMessageRouter({
    self: addressOf("a"),
    schedule,
    carrier: {
      send: (_code, _payload, { to, except }) =>
        sent.push(namesOf(to.filter((one) => !includesBytes(except, one)))),
      connected: [...(change.connected ?? "")].map(addressOf),
    },
    hasOtherNodeKey: change.hasOtherNodeKey === true,
    messagesBy: (author) => (equalBytes(author, addressOf("b")) ? [roundChange("b", 7)] : []),
    deliver: () => undefined,
    penalisePeer: (sender) => penalised.push(namesOf([sender])),
    clock: { nowMs: () => 0 },
    logger: silentLogger,
  });
  router.headAdvanced(genesis);
  return {
    router,
    sent,
    penalised,
    hear: (sender: string, message: SignedMessage) => hear(router, sender, message),
    /** To whom a message of our own goes. */
    say(round: number): string {
      sent.splice(0);
      router.multicast(roundChange("a", round), validators);
      return sent.join(" and ");
    },
  };
}

function hear(router: MessageRouter, sender: string, message: SignedMessage): void {
  router.receive({ sender: addressOf(sender), ...encodeMessage(message) });
}

describe("a node of another key than its validator's", () => {
  it("gets our messages, and those that we relay, once it has brought one of that validator first", () => {
    const { hear, say, sent } = aRouter();
    expect(say(1)).toBe("bcd");
    hear("x", roundChange("b"));
    expect(say(2)).toBe("bcdx");
    sent.splice(0);
    hear("c", roundChange("c"));
    expect(sent).toEqual(["bdx"]);
  });

  it("does not get back what it has brought, but another node that speaks for the same validator does", () => {
    const { hear, sent } = aRouter();
    hear("x", roundChange("b", 1));
    hear("y", roundChange("b", 2));
    sent.splice(0);
    hear("y", roundChange("b", 3));
    expect(sent).toEqual(["cdx", "b"]);
  });

  it("is not one that relays for others: a validator, or one whose message came before by another way", () => {
    const { hear, say } = aRouter();
    hear("c", roundChange("b"));
    hear("x", roundChange("b"));
    expect(say(2)).toBe("bcd");
  });

  it("is not believed while the validator's own node is connected", () => {
    const { hear, say } = aRouter({ connected: "bx" });
    hear("x", roundChange("b"));
    expect(say(2)).toBe("bcd");
  });

  it("gets our last messages, and what its validator said, when it connects again", () => {
    const { hear, say, router } = aRouter();
    const said: number[] = [];
    const connect = (node: string): number => {
      said.splice(0);
      router.peerConnected(addressOf(node), (_, payload) => said.push(payload.length));
      return said.length;
    };
    say(1);
    expect(connect("x")).toBe(0);
    hear("x", roundChange("b"));
    expect(connect("x")).toBe(2);
    expect(connect("y")).toBe(0);
  });

  it("is not disconnected for what it relays, as a validator is not", () => {
    const { hear, penalised, router } = aRouter();
    const broken = { code: 1, payload: Uint8Array.of(0xc0) };
    router.receive({ sender: addressOf("x"), ...broken });
    expect(penalised).toEqual(["x"]);
    hear("x", roundChange("b"));
    router.receive({ sender: addressOf("x"), code: 1, payload: Uint8Array.of(0xc1, 0x80) });
    expect(penalised).toEqual(["x"]);
  });

  it("is forgotten with its validator", () => {
    const { hear, say, router } = aRouter();
    hear("x", roundChange("b"));
    const next = headOf(genesis, aCandidate(genesis), aSchedule());
    const tally = { ...next.tally, validators: [..."acd"].map(addressOf) };
    router.headAdvanced({ ...next, tally });
    expect(say(2)).toBe("bcd");
  });
});

describe("this node, when its key is not its validator's", () => {
  it("introduces itself to all others with its small messages", () => {
    const { say, sent, router } = aRouter({ connected: "bxyz", hasOtherNodeKey: true });
    expect(say(1)).toBe("bcd and xyz");
    const said: number[] = [];
    router.peerConnected(addressOf("z"), (_, payload) => said.push(payload.length));
    expect(said).toHaveLength(1);
    sent.splice(0);
    router.multicast(proposal("a"), validators);
    expect(sent).toEqual(["bcd"]);
  });
});

describe("nodes of validators", () => {
  it("are two for a validator, those that brought its messages last", () => {
    const validatorNodes = new ValidatorNodes();
    for (const node of "xyxz") validatorNodes.learn(addressOf("b"), addressOf(node));
    expect(namesOf(validatorNodes.nodes)).toBe("xz");
    expect(validatorNodes.has(addressOf("y"))).toBe(false);
    validatorNodes.learn(addressOf("c"), addressOf("x"));
    expect(validatorNodes.nodes).toHaveLength(2);
    expect(namesOf(validatorNodes.validatorsOf(addressOf("x")))).toBe("bc");
    validatorNodes.retain([addressOf("c")]);
    expect(namesOf(validatorNodes.nodes)).toBe("x");
  });
});
