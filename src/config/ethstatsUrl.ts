import type { EthstatsSettings } from "../ethstats/reporter.ts";
import { ok } from "../primitives/result.ts";
import { bad, type ValueType } from "./valueTypes.ts";

/** What --ethstats says. */
type EthstatsUrl = Pick<EthstatsSettings, "nodeName" | "secret" | "host" | "port" | "isSecure">;

/** [ws://|wss://]nodename:secret@host[:port], the form of --ethstats. No message repeats the text, because it has the secret. */
export const ethstatsUrlType: ValueType<EthstatsUrl> = {
  arity: "single",
  label: "<NODE:SECRET@HOST:PORT>",
  accepts: "nodename:secret@host or nodename:secret@host:port, with ws:// or wss:// before it if need be",
  read(text) {
    const url = read(text);
    return url === undefined
      ? bad(
          "Invalid ethstats URL syntax. Ethstats URL should have the following format '[ws://|wss://]nodename:secret@host[:port]'.",
        )
      : ok(url);
  },
  /** Serves to notice a change; it is never printed. */
  show: JSON.stringify,
};

const FORM = /^(?:(wss?):\/\/)?([-_.%\w ]+):([^@/]+)@([-_.\w]+|\[[\da-fA-F:.]+\])(?::(\d{1,5}))?\/?$/i;
const HIGHEST_PORT = 65_535;

function read(text: string): EthstatsUrl | undefined {
  const [, scheme, name, secret, host, port] = FORM.exec(text) ?? [];
  if (name === undefined || secret === undefined || host === undefined) return undefined;
  const number = port === undefined ? undefined : Number(port);
  if (number !== undefined && number > HIGHEST_PORT) return undefined;
  // The form lets texts through that are no hosts, such as 1.2.3.999, with which a WebSocket cannot be made.
  if (!URL.canParse(`ws://${host}`)) return undefined;
  const [nodeName, plainSecret] = [decoded(name), decoded(secret)];
  if (nodeName === undefined || plainSecret === undefined) return undefined;
  const isSecure = scheme === undefined ? undefined : scheme.toLowerCase() === "wss";
  return { nodeName, secret: plainSecret, host, port: number, isSecure };
}

/** Without the escapes of a URL, which stand for characters such as @. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
