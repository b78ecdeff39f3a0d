import { useClock } from "../../chain/clock.ts";
import { call } from "../../chain/connection.ts";
import { useLoaded } from "../../chain/hooks.ts";
import type { IndexStatus, NodeHistory, NodeStatus } from "../../chain/nodeStatus.ts";
import { showBytes, showDuration, showNumber, showPercent, showShortHex, showTime } from "../../format.ts";
import { Field, Fields } from "../../parts/fields.tsx";
import { Panel } from "../../parts/panel.tsx";

/** This node's client, and its start time. */
export function ThisNode({ node }: { readonly node: NodeStatus }) {
  const running = useClock((nowMs) => showDuration(nowMs / 1_000 - Number(node.startedAt)));
  return (
    <Panel title="Versions">
      <Fields>
        <Field name="Program">{node.version}</Field>
        <Field name="Running for">
          <span title={showTime(Number(node.startedAt))}>{running}</span>
        </Field>
        <Field name="Fork">{node.fork}</Field>
        <Field name="Chain, network">
          {Number(node.chainId)}, {Number(node.networkId)}
        </Field>
        <Field name="Genesis">
          <span class="hex" title={node.genesisHash}>
            {showShortHex(node.genesisHash, 6)}
          </span>
        </Field>
        <Field name="Block period">{Number(node.blockPeriodSeconds)} s</Field>
        <Field name="First round">ends after {Number(node.requestTimeoutSeconds)} s</Field>
      </Fields>
    </Panel>
  );
}

/** Disk, memory and open files. */
export function Machine({ node }: { readonly node: NodeStatus }) {
  const { disk, memory, openFiles, blockHistory, stateHistory } = node;
  const index = useLoaded(() => call<IndexStatus>("explorer_getIndexStatus"), [disk.databaseBytes]);
  const free = disk.freeBytes === null ? undefined : Number(disk.freeBytes);
  const reserve = Number(disk.reserveBytes);
  const resume = Number(disk.resumeBytes);
  return (
    <Panel title="Machine">
      <Fields>
        <Field name="Disk free">
          {free === undefined ? "not known" : showBytes(free)}
          {free !== undefined && reserve > 0 && free < SCARCE * reserve && (
            <span class={`badge ${free < reserve ? "bad" : "warn"}`}>
              {free < reserve ? "too little" : "scarce"}
            </span>
          )}
          {reserve > 0 && (
            <span class="note" title={`${showNumber(reserve)} bytes, and ${showNumber(resume)} bytes`}>
              {" "}
              no blocks below {showBytes(reserve)}, and again from {showBytes(resume)} on
            </span>
          )}
        </Field>
        <Field name="Database">{showBytes(Number(disk.databaseBytes))}</Field>
        <History name="Whole blocks" history={blockHistory} />
        <History name="States" history={stateHistory} />
        {index.value !== undefined && (
          <Field name="Index by address">
            {showBytes(Number(index.value.bytes))}
            {index.value.isCatchingUp && (
              <span class="note">
                {" "}
                at block {showNumber(Number(index.value.lastBlock ?? 0))} of{" "}
                {showNumber(Number(index.value.headBlock))}
              </span>
            )}
          </Field>
        )}
        <Memory memory={memory} />
        {openFiles.open !== null && (
          <Field name="Open files">
            {showNumber(Number(openFiles.open))}
            {openFiles.limit !== null && (
              <>
                {" "}
                <span class="note">of {showNumber(Number(openFiles.limit))}</span>
                <Gauge part={Number(openFiles.open)} whole={Number(openFiles.limit)} />
              </>
            )}
          </Field>
        )}
      </Fields>
    </Panel>
  );
}

/** The old blocks, or their states, that the node has. */
function History({ name, history }: { readonly name: string; readonly history: NodeHistory }) {
  const { firstBlock, keptBlocks, blocksToRemove } = history;
  const left = Number(blocksToRemove ?? 0);
  const first = Number(firstBlock);
  return (
    <Field name={name}>
      {first === 0 ? "all" : `from ${showNumber(first)} on`}
      {keptBlocks !== null && (
        <span class="note"> {showNumber(Number(keptBlocks))} below the head are kept</span>
      )}
      {left > 0 && <span class="note"> {showNumber(left)} are being removed</span>}
    </Field>
  );
}

/** Memory of the process itself: mapped tables of the database are no burden to the machine. */
function Memory({ memory }: Pick<NodeStatus, "memory">) {
  const own = Number(memory.ownBytes ?? memory.residentBytes);
  const limit = Number(memory.limitBytes);
  return (
    <Field name="Memory">
      {showBytes(own)}{" "}
      <span class="note">
        {showPercent(own, limit)} of {showBytes(limit)}
      </span>
      <Gauge part={own} whole={limit} />
      {memory.mappedBytes !== null && (
        <span class="note" title="The system takes this back when it needs the memory.">
          and {showBytes(Number(memory.mappedBytes))} of mapped files
        </span>
      )}
    </Field>
  );
}

/** Multiple of the reserve below which the node warns. */
const SCARCE = 4;

/** A bar, hidden from screen readers because the numbers beside it say the same. */
function Gauge({ part, whole }: { readonly part: number; readonly whole: number }) {
  const percent = whole === 0 ? 0 : Math.min(100, (100 * part) / whole);
  return (
    <span class="gauge" aria-hidden="true">
      <span class={percent > 85 ? "full" : ""} style={{ width: `${percent}%` }} />
    </span>
  );
}
