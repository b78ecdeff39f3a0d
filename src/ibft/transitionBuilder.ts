import { assert, expectDefined } from "../primitives/assert.ts";
import { type Hash, keccak256 } from "../primitives/hash.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { Signature } from "../primitives/secp256k1.ts";
import type { Digest } from "../types/blockHash.ts";
import { messagePreimage } from "./codec/encoding.ts";
import type { Payload, RoundId, Signed } from "./message.ts";
import type { Effect, Height, Round, Rules, State } from "./state.ts";

/**
 * Collects the new state and the effects of one `step`; local to that call, so `step` stays pure. State values are
 * replaced, never mutated.
 */
export class TransitionBuilder {
  readonly rules: Rules;
  readonly nowMs: number;
  state: State;
  readonly effects: Effect[] = [];

  constructor(rules: Rules, state: State, nowMs: number) {
    this.rules = rules;
    this.nowMs = nowMs;
    this.state = state;
  }

  /** The height in progress; there must be one. */
  get height(): Height {
    return expectDefined(this.state.height, "a height in progress");
  }

  get round(): Round {
    return this.height.round;
  }

  get id(): RoundId {
    return { height: this.height.validatorSet.height, round: this.round.number };
  }

  changeState(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
  }

  changeHeight(change: Partial<Height>): void {
    this.changeState({ height: { ...this.height, ...change } });
  }

  changeRound(change: Partial<Round>): void {
    this.changeHeight({ round: { ...this.round, ...change } });
  }

  emit(effect: Effect): void {
    this.effects.push(effect);
  }

  /**
   * Our signature of `digest`, the keccak256 of `preimage`; undefined while a remote signer has yet to give it. It is then
   * requested, and the step that needs it runs again once it has come, so the caller must change nothing before. Call it
   * only after recordVote: the record is durable before the request leaves.
   */
  sign(digest: Hash, preimage: () => Uint8Array): Signature | undefined {
    const { sign } = this.rules;
    if (sign !== undefined) return sign(digest);
    const given = this.round.signatures?.find((one) => equalBytes(one.digest, digest));
    if (given === undefined)
      this.emit({ kind: "requestSignature", id: this.id, digest, preimage: preimage() });
    return given?.signature;
  }

  /** A payload with our signature; undefined as for `sign`. */
  signPayload<P extends Payload>(payload: P): Signed<P> | undefined {
    const preimage = messagePreimage(payload);
    const signature = this.sign(keccak256(preimage), () => preimage);
    return signature && { payload, signature, author: this.rules.self };
  }

  /**
   * Records what we are about to sign in the round in progress: a vote for the block of `digest`, or, without one, a
   * request for this round. `step` has the record written to disk before any other effect. Fails when it contradicts an
   * earlier record, so that no path through the state machine can sign twice.
   */
  recordVote(digest?: Digest): void {
    const { height, round } = this.id;
    const { prepared } = this.height;
    const { lastSigned: record } = this.state;
    assert(record === undefined || record.height <= height, "never vote below a recorded height");
    if (record?.height === height) {
      assert(record.round <= round, "never vote below a recorded round");
      if (record.round === round && record.digest !== undefined) {
        const isSame = digest !== undefined && equalBytes(record.digest, digest);
        assert(isSame, "never vote for two blocks in one round");
        if (record.prepared === prepared) return;
      }
    }
    assert(record?.doubt === undefined, "never vote in doubt about earlier votes");
    const { forgotten } = record ?? {};
    this.changeState({
      lastSigned: { height, round, digest, prepared, ...(forgotten === height && { forgotten }) },
    });
  }
}
