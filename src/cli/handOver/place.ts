import { parseEnode } from "../../config/enode.ts";
import { bad, type ValueType } from "../../config/valueTypes.ts";
import { ok } from "../../primitives/result.ts";

/** Where a node may answer: a URL of JSON-RPC, or an address for peers. */
export type Place =
  | { readonly kind: "rpc"; readonly url: string }
  | { readonly kind: "peer"; readonly host: string; readonly port: number };

/** Reads a place as an operator writes it. */
export const placeType: ValueType<Place> = {
  arity: "single",
  label: "<PLACE>",
  accepts: "host:port, an enode URL, or a URL of JSON-RPC over HTTP",
  read(text) {
    if (/^https?:\/\//i.test(text)) return ok({ kind: "rpc", url: text });
    if (/^enode:/i.test(text)) {
      const enode = parseEnode(text);
      if (!enode.ok) return enode;
      const { host, tcpPort } = enode.value;
      return tcpPort === undefined ? bad(`'${text}' has no port`) : ok({ kind: "peer", host, port: tcpPort });
    }
    const [, host, port] = /^(\[[0-9a-f:.]+\]|[^:/\s]+):(\d{1,5})$/i.exec(text) ?? [];
    if (host === undefined || Number(port) < 1 || Number(port) > 65535)
      return bad(`'${text}' is neither host:port nor a URL`);
    return ok({ kind: "peer", host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) });
  },
  show: showPlace,
};

export function showPlace(place: Place): string {
  if (place.kind === "rpc") return place.url;
  return `${place.host.includes(":") ? `[${place.host}]` : place.host}:${place.port}`;
}
