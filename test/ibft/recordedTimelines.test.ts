import { expect, it } from "vitest";
import type { Payload, Signed, SignedMessage } from "../../src/ibft/message.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { encodeSignature } from "../../src/primitives/secp256k1.ts";
import { decodeExtraData } from "../../src/types/extraData.ts";
import { decoded, NETWORKS, recordedMessages } from "../builders/recordedMessages.ts";
import { NODES, recordedBlock } from "../builders/recordedTimelines.ts";
import { describeWithVectors } from "../vectors.ts";
import { openRecording, type Recording } from "./timelineReplay.ts";

/** A deviation of our state machine from the recorded validator, and why it is right. */
interface Difference {
  readonly why: string;
  /** What our state machine does, derived from the recording. */
  readonly ours: (recorded: readonly string[]) => readonly string[];
  /** Messages whose bytes differ for that reason. */
  readonly otherBytes?: readonly string[];
}

/** Keys are network/height/node. All other runs are exactly as recorded. */
const DIFFERENCES: Readonly<Record<string, Difference>> = {
  "net1/1/node2": {
    why:
      "The join rule (ibft2.md#join-rule). Two of four ask for round 1, so one of them is honest: we ask at once, where " +
      "Besu waits for its own timer or a third. That makes the quorum, so our proposal is there one message " +
      "earlier, with our RoundChange in its certificate where Besu's has node4's.",
    ours: (recorded) => {
      const others = recorded.filter((id) => id !== "1/1/Proposal/node2");
      const at = others.indexOf("1/1/RoundChange/node4");
      return [...others.slice(0, at), "1/1/RoundChange/node2", "1/1/Proposal/node2", ...others.slice(at)];
    },
    otherBytes: ["1/1/Proposal/node2"],
  },
  "net2/130/node1": prepareFirst("130/0", "node1"),
  "net2/130/node2": prepareFirst("130/0", "node2"),
  "net2/206/node3": askFirst("206/2", "node3"),
  "net2/215/node3": askFirst("215/1", "node3"),
};

function prepareFirst(place: string, node: string): Difference {
  return {
    why:
      "Of three validators one Prepare is enough, and our own is one. Besu takes its own Prepare, is prepared, " +
      "sends its Commit and then the Prepare (ibft2.md#accepting-a-proposal); we send in the order in which we say things.",
    ours: swapped(`${place}/Commit/${node}`, `${place}/Prepare/${node}`),
  };
}

function askFirst(place: string, node: string): Difference {
  return {
    why:
      "Our own RoundChange makes the quorum, and we are the proposer. Besu takes its own message first, so that the " +
      "Proposal leaves before it (ibft2.md#round-expiry); we send in the order in which we say things.",
    ours: swapped(`${place}/Proposal/${node}`, `${place}/RoundChange/${node}`),
  };
}

function swapped(first: string, second: string): Difference["ours"] {
  return (recorded) => {
    const at = recorded.indexOf(first);
    expect(recorded[at + 1]).toBe(second);
    return [...recorded.slice(0, at), second, first, ...recorded.slice(at + 2)];
  };
}

/** A validator that was down, and one that had been voted out: neither sends anything. */
const SILENT = ["net2/130/node4", "net2/153/node2"];

/** The candidate is not in the recording: this proposer of round 0 had no connections yet. */
const UNHEARD = ["net1/1/node1", "net2/1/node1"];

describeWithVectors(
  "a height that real validators decided, replayed by our machine in the place of each",
  () => {
    const recordings = NETWORKS.map(openRecording);
    const timelines = recordings.flatMap((recording) =>
      recording.timelines.flatMap(({ height }) =>
        NODES.map((node) => ({ name: `${recording.network}/${height}/${node}`, recording, height, node })),
      ),
    );

    it.each(timelines)("sends what was sent, byte for byte: $name", ({ name, recording, height, node }) => {
      const { recorded, ours, sent, rejected, built, decided } = recording.replay(height, node);
      const difference = DIFFERENCES[name];
      expect(ours).toEqual(difference?.ours(recorded) ?? recorded);
      for (const [id, payload] of sent) {
        const isOther = difference?.otherBytes?.includes(id) ?? false;
        const data = recording.payloads.get(id);
        if (data !== undefined) expect(payload === data, id).toBe(!isOther);
      }
      expect(rejected).toEqual([]);
      for (const { candidate, timestamp, round } of built) {
        if (candidate === undefined)
          expect(`${name} in round ${round}`).toBe(`${UNHEARD.find((it) => it === name)} in round 0`);
        else expect(timestamp).toBe(candidate.header.timestamp);
      }
      expect(recorded.length === 0).toBe(SILENT.includes(name));
      if (decided !== undefined) {
        expect(toHex(decided.candidate.hash)).toBe(toHex(recording.hashOf(height)));
      }
    });

    it("has stated reasons only where it differs", () => {
      const differing = timelines.filter(({ recording, height, node }) => {
        const { recorded, ours } = recording.replay(height, node);
        return recorded.join() !== ours.join();
      });
      expect(differing.map(({ name }) => name)).toEqual(Object.keys(DIFFERENCES));
    });

    it("compares first sendings, and the bytes of our own messages wherever the capture has them", () => {
      expect(recordings.map((recording) => countOf(recording))).toEqual([
        { timelines: 12, sendings: 91, own: 28, recorded: 15, provenOtherwise: 5 },
        { timelines: 24, sendings: 337, own: 118, recorded: 91, provenOtherwise: 9 },
      ]);
    });
  },
);

/**
 * Counts what is compared: first sendings of all kinds; our own messages; those with equal recorded bytes; and those whose
 * bytes the capture omits, but whose signature is in a recorded certificate or in the chain.
 */
function countOf(recording: Recording) {
  const evidence = signaturesIn(recording);
  let sendings = 0;
  let own = 0;
  let recorded = 0;
  let provenOtherwise = 0;
  for (const { height } of recording.timelines)
    for (const node of NODES) {
      const replayed = recording.replay(height, node);
      sendings += replayed.recorded.length;
      own += replayed.sent.size;
      for (const [id, payload] of replayed.sent) {
        if (recording.payloads.get(id) === payload) recorded += 1;
        else if (evidence.has(signatureIn(id, payload))) provenOtherwise += 1;
      }
    }
  return { timelines: recording.timelines.length * NODES.length, sendings, own, recorded, provenOtherwise };
}

/** The signature as others recorded it: a Commit's seal is in the chain, the rest in certificates. */
function signatureIn(id: string, payload: string): string {
  const code = { Proposal: 0, Prepare: 1, Commit: 2, RoundChange: 3 }[id.split("/")[2] ?? ""] ?? -1;
  const { signed } = decoded(code, hexToBytes(payload));
  return toHex(encodeSignature(signed.payload.kind === "commit" ? signed.payload.seal : signed.signature));
}

function signaturesIn({ network, timelines }: Recording): ReadonlySet<string> {
  const messages: readonly SignedMessage[] = recordedMessages(network).map(({ code, data }) =>
    decoded(code, hexToBytes(data)),
  );
  const certified = messages.flatMap(certifiedBy).map(({ signature }) => signature);
  const seals = timelines.flatMap(({ height }) => {
    const extra = decodeExtraData(recordedBlock(network, height).header.extraData);
    return extra.ok ? extra.value.seals : [];
  });
  return new Set([...certified, ...seals].map((signature) => toHex(encodeSignature(signature))));
}

function certifiedBy(message: SignedMessage): readonly Signed<Payload>[] {
  const requesters = message.kind === "proposal" ? (message.certificate ?? []) : [];
  const roundChanges = message.kind === "roundChange" ? [message.signed] : requesters;
  const prepared = roundChanges.flatMap(({ payload }) =>
    payload.prepared === undefined ? [] : [payload.prepared.proposal, ...payload.prepared.prepares],
  );
  return [...requesters, ...prepared];
}
