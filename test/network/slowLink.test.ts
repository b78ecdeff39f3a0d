import { randomBytes } from "node:crypto";
import { afterEach, describe, expect } from "vitest";
import type { MessageRouter } from "../../src/consensus/router/messageRouter.ts";
import { createCandidate } from "../../src/ibft/candidate.ts";
import { signPayload } from "../../src/ibft/codec/encoding.ts";
import type { SignedMessage } from "../../src/ibft/message.ts";
import { proposerOf } from "../../src/ibft/validatorSet.ts";
import type { NodeAddress } from "../../src/network/dialer.ts";
import { createIbfTransport, type IbfTransport } from "../../src/network/ibf/protocol.ts";
import type { Network } from "../../src/network/network.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import type { Address } from "../../src/primitives/address.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { systemClock } from "../../src/primitives/clock.ts";
import { compareBytes, equalBytes } from "../../src/primitives/hex.ts";
import { addressOfPrivateKey, sign } from "../../src/primitives/secp256k1.ts";
import { rootOfList } from "../../src/types/listRoot.ts";
import { aMessageRouter } from "../builders/aMessageRouter.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { type Line, openSlowLink, type SlowLink } from "../builders/slowLink.ts";
import { aCandidate, aGenesisHead, aSchedule } from "../builders/toyChain.ts";
import { itIfThorough } from "../thorough.ts";
import { type Identity, identity } from "./identities.ts";
import { closeAfterEach, startToy, until } from "./toyNetwork.ts";

/*
 * A validator that holds a prepared block of 15 MB, such as Besu may build, requests a round change, and repeats it on
 * each new connection, over a slow link.
 */

closeAfterEach();
const links: SlowLink[] = [];
afterEach(() => {
  for (const link of links.splice(0)) link.close();
});

const [ALICE, BOB, CAROL, DAVE] = [identity(1), identity(2), identity(3), identity(4)];
const ALL = [ALICE, BOB, CAROL, DAVE];
const addressOf = ({ privateKey }: Identity): Address => addressOfPrivateKey(privateKey);
const VALIDATORS = ALL.map(addressOf).sort(compareBytes);
const HEAD = aGenesisHead(VALIDATORS);
const ROUND_ID = { height: 1n, round: 0 } as const;

interface Validator {
  readonly network: Network;
  readonly transport: IbfTransport;
  readonly router: MessageRouter;
  /** Lengths of the received messages. */
  readonly lengths: number[];
  /** Messages delivered to consensus. */
  readonly delivered: SignedMessage[];
}

describe("a round change with a block of 15 MB", () => {
  itIfThorough("arrives, and again after a lost connection, among other messages", () =>
    expectDelivery({ bitsPerSecond: 100e6, delayMs: 10 }),
  );

  itIfThorough("arrives likewise over 10 Mbit/s with 100 ms each way", () =>
    expectDelivery({ bitsPerSecond: 10e6, delayMs: 100 }),
  );
});

async function expectDelivery(line: Line): Promise<void> {
  const bob = await aValidator(2);
  const link = await openSlowLink(bob.address.tcpPort, line);
  links.push(link);
  const alice = await aValidator(1, [{ ...bob.address, tcpPort: link.port }]);
  alice.router.multicast(largeRoundChange(), VALIDATORS);
  // Small messages compete with the large one.
  const chatter = setInterval(() => {
    for (const { transport } of [alice, bob]) transport.send(1, new Uint8Array(150), { to: VALIDATORS });
  }, 20);
  const largeOnes = (): number => bob.lengths.filter((length) => length > 15_000_000).length;
  for (let time = 1; time <= 2; time++) {
    await until(() => largeOnes() === time || link.connections > time);
    expect(link.connections).toBe(time);
    link.cut();
  }
  clearInterval(chatter);
  expect(bob.delivered.map(({ kind }) => kind)).toEqual(["roundChange"]);
  expect(alice.lengths.length).toBeGreaterThan(10);
  expect(
    [...alice.network.disconnects, ...bob.network.disconnects].filter(({ reason }) => reason !== "tcpError"),
  ).toEqual([]);
}

/** A validator's transport and message router, without a state machine. */
async function aValidator(
  number: number,
  maintained: readonly NodeAddress[] = [],
): Promise<Validator & { readonly address: NodeAddress }> {
  const lengths: number[] = [];
  const delivered: SignedMessage[] = [];
  const transport = createIbfTransport({
    receive(message) {
      lengths.push(message.payload.length);
      router.receive(message);
    },
    onOpened: (address, say) => router.peerConnected(address, say),
  });
  const router = aMessageRouter({
    self: addressOf(identity(number)),
    schedule: aSchedule(),
    carrier: transport,
    deliver: (message) => void delivered.push(message),
    clock: systemClock,
    logger: silentLogger,
  });
  router.headAdvanced(HEAD);
  const { network, address } = await startToy(number, { protocols: [transport.protocol], maintained });
  return { network, address, transport, router, lengths, delivered };
}

/**
 * A RoundChange of the first validator, with a block that the proposer of round 0 built from 150 transactions, and that
 * two validators have prepared.
 */
function largeRoundChange(): SignedMessage {
  const signers = ALL.map((one) => ({
    self: addressOf(one),
    sign: (digest: Uint8Array) => sign(digest, one.privateKey),
  }));
  const alice = expectDefined(signers[0], "the first validator");
  const proposer = proposerOf(VALIDATORS, HEAD.header.coinbase, 0);
  const { header, extra } = aCandidate(HEAD, { coinbase: proposer });
  const data = randomBytes(100_000);
  const transactions = Array.from({ length: 151 }, (_, nonce) =>
    aTransaction({ nonce: BigInt(nonce), data }),
  );
  const transactionsRoot = rootOfList(transactions.map(({ raw }) => raw));
  const candidate = createCandidate({ ...header, transactionsRoot }, extra, transactions);
  const about = { ...ROUND_ID, digest: candidate.digest };
  const isProposer = ({ self }: { readonly self: Address }): boolean => equalBytes(self, proposer);
  const proposal = signPayload(expectDefined(signers.find(isProposer), "the proposer"), {
    kind: "proposal",
    ...about,
  } as const);
  const prepares = signers
    .filter((one) => !isProposer(one))
    .slice(0, 2)
    .map((one) => signPayload(one, { kind: "prepare", ...about } as const));
  const payload = { kind: "roundChange", height: 1n, round: 1, prepared: { proposal, prepares } } as const;
  return { kind: "roundChange", signed: signPayload(alice, payload), candidate };
}
