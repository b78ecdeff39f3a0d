import { useState } from "preact/hooks";
import { useKnownContract } from "../../chain/knownContracts.ts";
import type { Log } from "../../chain/types.ts";
import { useDecoding } from "../../chain/useDecoding.ts";
import { showNumber, showText } from "../../format.ts";
import { Bytes } from "../../parts/bytes.tsx";
import { AccountLink } from "../../parts/links.tsx";
import { Panel } from "../../parts/panel.tsx";
import { DecodedValues } from "../../parts/values.tsx";

/** Number of logs shown at first, and with each further click. */
const SHOWN = 20;

/** The events that contracts have emitted. */
export function Logs({ logs }: { readonly logs: readonly Log[] }) {
  const [shown, setShown] = useState(SHOWN);
  if (logs.length === 0) return null;
  return (
    <Panel title="Logs" aside={showNumber(logs.length)}>
      <ol class="logs">
        {logs.slice(0, shown).map((log, index) => (
          <li key={index}>
            <LogEntry log={log} />
          </li>
        ))}
      </ol>
      {shown < logs.length && (
        <button type="button" class="button" onClick={() => setShown(shown + SHOWN)}>
          Show more
        </button>
      )}
    </Panel>
  );
}

function LogEntry({ log }: { readonly log: Log }) {
  const decoding = useDecoding();
  const known = useKnownContract(log.address);
  const decoded = log.topics.length === 0 ? undefined : decoding?.decodeLog(log, known?.abi);
  return (
    <>
      <p class="log-head">
        {log.logIndex !== undefined && <span class="note">{Number(log.logIndex)}</span>}
        <AccountLink address={log.address}>{known && showText(known.name, 60)}</AccountLink>
      </p>
      {decoded === undefined ? <RawLog log={log} /> : <DecodedValues decoded={decoded} />}
    </>
  );
}

function RawLog({ log: { topics, data } }: { readonly log: Log }) {
  return (
    <ul class="values">
      {topics.map((topic, index) => (
        <li key={index}>
          <span class="note">topic {index}</span>
          <Bytes text={topic} />
        </li>
      ))}
      {data !== "0x" && (
        <li>
          <span class="note">data</span>
          <Bytes text={showText(data, 2_000)} />
        </li>
      )}
    </ul>
  );
}
