import type { Logger } from "../observability/logger.ts";
import { type Address, addressFromHex } from "../primitives/address.ts";
import { toHex } from "../primitives/hex.ts";
import { Mutex } from "../primitives/mutex.ts";
import type { Result } from "../primitives/result.ts";
import { addressOfPrivateKey } from "../primitives/secp256k1.ts";
import { type FaucetTerms, type GiftAnswer, type GiftRequest, type Refusal, refused } from "./gift.ts";
import type { GiftRecord, RecordedGift } from "./giftRecord.ts";
import { signGift } from "./giftTransaction.ts";
import { DAY_MS, GIFT_GAS, REMEMBERED_GIFTS, WAITING_LIMIT } from "./limits.ts";

/**
 * Gives the coin of a test network away, within its terms.
 *
 *   request ─ turn ─> address ─> cooldowns, daily limit ─> balance ─> record, on disk ─> signed, to the pool
 *
 * Invariants: requests are worked on one after another, so that two at once are never both granted on the same count; a gift
 * is on disk before it is sent, so that it counts after a kill; the key is in no answer and no log line.
 */
export interface Faucet {
  readonly address: Address;
  give(request: GiftRequest): Promise<GiftAnswer>;
  /** Resolves when the gift that is being given is. */
  close(): Promise<void>;
}

export interface FaucetSettings extends FaucetTerms {
  /** 32 bytes. */
  readonly privateKey: Uint8Array;
  readonly chainId: bigint;
}

export interface FaucetParts {
  readonly record: GiftRecord;
  nowMs(): number;
  /** Wei at the head. */
  balanceOf(address: Address): bigint;
  /** The nonce after what the chain and the pool have of the sender. */
  nextNonce(address: Address): bigint;
  /** What a transaction must pay for gas to be taken into the next blocks, wei. */
  gasPriceWei(): bigint;
  submit(raw: Uint8Array): Promise<Result<Uint8Array>>;
  /** Called with each answer. */
  onAnswer(answer: Refusal | "given"): void;
  readonly logger: Logger;
}

export function createFaucet(settings: FaucetSettings, parts: FaucetParts): Faucet {
  const address = addressOfPrivateKey(settings.privateKey);
  const giver = { ...parts, settings, address };
  const turns = new Mutex();
  let waiting = 0;
  let isClosed = false;

  async function answerInTurn(request: GiftRequest): Promise<GiftAnswer> {
    const answer = isClosed ? refused("busy", "The node stops.") : await giveSafely(request, giver);
    parts.onAnswer(answer.kind === "given" ? "given" : answer.reason);
    return answer;
  }

  return {
    address,
    give(request) {
      if (waiting >= WAITING_LIMIT) {
        parts.onAnswer("busy");
        return Promise.resolve(refused("busy", "Too many ask at once.", 1000));
      }
      waiting++;
      return turns
        .runExclusive(() => answerInTurn(request))
        .finally(() => {
          waiting--;
        });
    },
    async close() {
      isClosed = true;
      await turns.runExclusive(() => parts.record.close());
    },
  };
}

interface Giver extends FaucetParts {
  readonly settings: FaucetSettings;
  readonly address: Address;
}

/** A failing disk refuses gifts, and does not end the node by itself. */
async function giveSafely(request: GiftRequest, giver: Giver): Promise<GiftAnswer> {
  try {
    return await give(request, giver);
  } catch (error) {
    giver.logger.error({ error }, "the faucet could not give");
    return refused("notAccepted", "The faucet cannot give now.");
  }
}

async function give(request: GiftRequest, giver: Giver): Promise<GiftAnswer> {
  const { settings, record } = giver;
  const recipient = addressOf(request.address);
  if (recipient === undefined)
    return refused("badAddress", "An address of 40 hexadecimal digits after 0x is expected.");
  const atMs = giver.nowMs();
  const { remoteHost } = request;
  const gift: RecordedGift = { atMs, address: toHex(recipient), remoteHost, wei: settings.amountWei };
  const objection = objectionOf(gift, record.giftsAt(atMs), settings);
  if (objection !== undefined) return objection;
  const gasPriceWei = giver.gasPriceWei();
  if (giver.balanceOf(giver.address) < settings.amountWei + GIFT_GAS * gasPriceWei)
    return refused("empty", "The faucet is empty.");
  await record.add(gift);
  return send(gift, recipient, gasPriceWei, giver);
}

async function send(
  gift: RecordedGift,
  to: Address,
  gasPriceWei: bigint,
  { settings, address, record, nextNonce, submit, logger }: Giver,
): Promise<GiftAnswer> {
  const { chainId, amountWei, privateKey } = settings;
  const nonce = nextNonce(address);
  const sent = await submit(signGift({ chainId, nonce, gasPriceWei, to, valueWei: amountWei }, privateKey));
  if (!sent.ok) {
    await record.removeNewest();
    logger.warn({ reason: sent.error.message }, "the pool did not take a gift of the faucet");
    return refused("notAccepted", `The gift was not accepted: ${sent.error.message}.`);
  }
  const transactionHash = toHex(sent.value);
  logger.info({ to: gift.address, hash: transactionHash }, "the faucet gave");
  return { kind: "given", transactionHash, amountWei };
}

function addressOf(text: string): Address | undefined {
  return /^0x[\da-f]{40}$/i.test(text) ? addressFromHex(text.toLowerCase()) : undefined;
}

/** Why these gifts forbid one more. */
function objectionOf(
  { atMs, address, remoteHost, wei }: RecordedGift,
  gifts: readonly RecordedGift[],
  { addressCooldownMs, hostCooldownMs, dailyLimitWei }: FaucetTerms,
): GiftAnswer | undefined {
  const leftOf = (last: RecordedGift | undefined, cooldownMs: number): number =>
    last === undefined ? 0 : last.atMs + cooldownMs - atMs;
  const forAddress = leftOf(
    gifts.findLast((gift) => gift.address === address),
    addressCooldownMs,
  );
  if (forAddress > 0) return refused("addressCooldown", "This address was given to before.", forAddress);
  const forHost = leftOf(
    gifts.findLast((gift) => gift.remoteHost === remoteHost),
    hostCooldownMs,
  );
  if (forHost > 0) return refused("hostCooldown", "Your network was given to before.", forHost);
  const today = gifts.filter((gift) => gift.atMs > atMs - DAY_MS);
  const given = today.reduce((sum, gift) => sum + gift.wei, 0n);
  if (given + wei > dailyLimitWei)
    return refused("dailyLimit", "All of today's gifts were given.", leftOf(today[0], DAY_MS));
  if (gifts.length >= REMEMBERED_GIFTS) return refused("dailyLimit", "Too many gifts were given.");
  return undefined;
}
