import type { NextBlockView } from "../chain/nextBlockView.ts";
import type { Logger } from "../observability/logger.ts";
import type { Metrics } from "../observability/registry.ts";
import { type Address, addressFromHex } from "../primitives/address.ts";
import { toHex } from "../primitives/hex.ts";
import { Mutex } from "../primitives/mutex.ts";
import { larger } from "../primitives/quantity.ts";
import type { Result } from "../primitives/result.ts";
import { addressOfPrivateKey } from "../primitives/secp256k1.ts";
import type { TxPool } from "../txpool/txPool.ts";
import { type FaucetTerms, type GiftAnswer, type GiftRequest, type Refusal, refused } from "./gift.ts";
import { GiftRecord, type RecordedGift } from "./giftRecord.ts";
import { signGift } from "./giftTransaction.ts";
import { DAY_MS, GIFT_GAS, REMEMBERED_GIFTS, WAITING_LIMIT } from "./limits.ts";

interface FaucetSettings extends FaucetTerms {
  /** 32 bytes. */
  readonly privateKey: Uint8Array;
  readonly chainId: bigint;
}

export interface FaucetParts {
  readonly record: GiftRecord;
  nowMs(): number;
  readonly view: Pick<NextBlockView, "balanceWei" | "nextBaseFeePerGas">;
  readonly pool: Pick<TxPool, "nextNonce" | "blockFloors">;
  submit(raw: Uint8Array): Promise<Result<Uint8Array>>;
  /** Called with each answer. */
  onAnswer(answer: Refusal | "given"): void;
  readonly logger: Logger;
}

/**
 * Gives away the coin of a test network, within its terms.
 *
 *   request ─ turn ─> address ─> cooldowns, daily limit ─> balance ─> record, on disk ─> signed, to the pool
 *
 * Invariants: requests are processed one after another, so that two at once are never both granted on the same count; a gift
 * is on disk before it is sent, so that it counts after a kill; the key is in no answer and no log line.
 */
export class Faucet {
  readonly address: Address;
  readonly #settings: FaucetSettings;
  readonly #parts: FaucetParts;
  readonly #turns = new Mutex();
  #waiting = 0;
  #isClosed = false;

  constructor(settings: FaucetSettings, parts: FaucetParts) {
    this.address = addressOfPrivateKey(settings.privateKey);
    this.#settings = settings;
    this.#parts = parts;
  }

  /** Opens the faucet with the gifts that the file at `path` records. Throws errors of the file system, and DiskError. */
  static async open(
    settings: FaucetSettings,
    path: string,
    {
      metrics,
      ...parts
    }: Omit<FaucetParts, "record" | "onAnswer"> & { readonly metrics: Metrics | undefined },
  ): Promise<Faucet> {
    const { addressCooldownMs, hostCooldownMs, amountWei, dailyLimitWei } = settings;
    const keepMs = Math.max(DAY_MS, addressCooldownMs, hostCooldownMs);
    const answers = metrics?.counter({
      category: "NODE",
      name: "faucet_answers_total",
      help: "Requests to the faucet, by answer: given, or why not",
      labels: ["answer"],
    });
    const faucet = new Faucet(settings, {
      ...parts,
      record: await GiftRecord.open(path, keepMs, parts.nowMs()),
      onAnswer: (answer) => answers?.with(answer).increment(),
    });
    const terms = { amountWei: amountWei.toString(), dailyLimitWei: dailyLimitWei.toString() };
    parts.logger.info({ address: toHex(faucet.address), ...terms }, "the faucet is open");
    return faucet;
  }

  give(request: GiftRequest): Promise<GiftAnswer> {
    if (this.#waiting >= WAITING_LIMIT) {
      this.#parts.onAnswer("busy");
      return Promise.resolve(refused("busy", "There are too many requests at once.", 1000));
    }
    this.#waiting++;
    return this.#turns
      .runExclusive(() => this.#answerInTurn(request))
      .finally(() => {
        this.#waiting--;
      });
  }

  /** Resolves when the gift in progress has been given. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#turns.runExclusive(() => this.#parts.record.close());
  }

  async #answerInTurn(request: GiftRequest): Promise<GiftAnswer> {
    const answer = this.#isClosed
      ? refused("busy", "The node is stopping.")
      : await this.#decideSafely(request);
    this.#parts.onAnswer(answer.kind === "given" ? "given" : answer.reason);
    return answer;
  }

  /** A failing disk refuses gifts, and does not end the node by itself. */
  async #decideSafely(request: GiftRequest): Promise<GiftAnswer> {
    try {
      return await this.#decide(request);
    } catch (error) {
      this.#parts.logger.error({ error }, "the faucet could not give a gift");
      return refused("notAccepted", "The faucet cannot give anything now.");
    }
  }

  async #decide(request: GiftRequest): Promise<GiftAnswer> {
    const { record } = this.#parts;
    const { amountWei } = this.#settings;
    const recipient = addressOf(request.address);
    if (recipient === undefined)
      return refused("badAddress", "An address of 40 hexadecimal digits after 0x is expected.");
    const atMs = this.#parts.nowMs();
    const { remoteHost } = request;
    const gift: RecordedGift = { atMs, address: toHex(recipient), remoteHost, wei: amountWei };
    const objection = objectionOf(gift, record.giftsAt(atMs), this.#settings);
    if (objection !== undefined) return objection;
    const gasPriceWei = this.#gasPriceWei();
    if (this.#parts.view.balanceWei(this.address) < amountWei + GIFT_GAS * gasPriceWei)
      return refused("empty", "The faucet is empty.");
    await record.add(gift);
    return this.#send(gift, recipient, gasPriceWei);
  }

  /** Twice the base fee, so that a gift still pays when a few full blocks raise it. */
  #gasPriceWei(): bigint {
    const { view, pool } = this.#parts;
    const { minGasPriceWei, minPriorityFeeWei } = pool.blockFloors;
    return 2n * (view.nextBaseFeePerGas ?? 0n) + larger(minGasPriceWei, minPriorityFeeWei);
  }

  async #send(gift: RecordedGift, to: Address, gasPriceWei: bigint): Promise<GiftAnswer> {
    const { record, logger } = this.#parts;
    const { chainId, amountWei, privateKey } = this.#settings;
    const nonce = this.#parts.pool.nextNonce(this.address);
    const signed = signGift({ chainId, nonce, gasPriceWei, to, valueWei: amountWei }, privateKey);
    const sent = await this.#parts.submit(signed);
    if (!sent.ok) {
      await record.removeNewest();
      logger.warn({ reason: sent.error.message }, "the pool rejected a gift of the faucet");
      return refused("notAccepted", `The gift was not accepted: ${sent.error.message}.`);
    }
    const transactionHash = toHex(sent.value);
    logger.info({ to: gift.address, hash: transactionHash }, "the faucet sent a gift");
    return { kind: "given", transactionHash, amountWei };
  }
}

function addressOf(text: string): Address | undefined {
  return /^0x[\da-f]{40}$/i.test(text) ? addressFromHex(text.toLowerCase()) : undefined;
}

/** Why these gifts forbid another one. */
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
  if (forAddress > 0)
    return refused("addressCooldown", "This address has received a gift before.", forAddress);
  const forHost = leftOf(
    gifts.findLast((gift) => gift.remoteHost === remoteHost),
    hostCooldownMs,
  );
  if (forHost > 0) return refused("hostCooldown", "Your network has received a gift before.", forHost);
  const today = gifts.filter((gift) => gift.atMs > atMs - DAY_MS);
  const given = today.reduce((sum, gift) => sum + gift.wei, 0n);
  if (given + wei > dailyLimitWei)
    return refused("dailyLimit", "Today's gifts have all been given.", leftOf(today[0], DAY_MS));
  if (gifts.length >= REMEMBERED_GIFTS) return refused("dailyLimit", "Too many gifts have been given.");
  return undefined;
}
