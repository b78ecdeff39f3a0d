import fc from "fast-check";
import { concatBytes, hexToBytes } from "../../src/primitives/hex.ts";
import {
  createMessageValidator,
  type MessageValidator,
  opensMessageStrings,
} from "../builders/messageValidator.ts";
import { derivedMessages, NETWORKS, recordedMessages } from "../builders/recordedMessages.ts";
import { describeWithVectors } from "../vectors.ts";
import { ACCEPTED, fuzz } from "./fuzzing.ts";
import { mutatedRlp } from "./mutatedInputs.ts";

/**
 * Mutated consensus messages, recorded ones and those of the specification; the first byte of an input is the message's
 * code.
 */
describeWithVectors("consensus messages", () => {
  let validate: MessageValidator | undefined;
  fuzz({
    name: "consensus messages",
    dailyInputs: 800,
    spread: { outcomes: 8, accepted: [0.05, 0.6] },
    inputs() {
      const derived = derivedMessages().map(({ code, message }) => ({ code, data: message }));
      // Messages for the specification's validator come as often as all the rest.
      return fc.oneof(mutated(derived), mutated(NETWORKS.flatMap(recordedMessages)));
    },
    validate(input) {
      validate ??= createMessageValidator();
      const outcome = validate(input[0] ?? 0, input.subarray(1));
      return outcome === "understood" ? ACCEPTED : outcome;
    },
  });
});

function mutated(
  messages: readonly { readonly code: number; readonly data: string }[],
): fc.Arbitrary<Uint8Array> {
  return fc.constantFrom(...messages).chain(({ code, data }) => {
    const payload = hexToBytes(data);
    return fc
      .tuple(
        fc.oneof({ weight: 20, arbitrary: fc.constant(code) }, fc.nat(4)),
        mutatedRlp(fc.constant(payload), opensMessageStrings),
      )
      .map(([sentAs, bytes]) => concatBytes(Uint8Array.of(sentAs), bytes));
  });
}
