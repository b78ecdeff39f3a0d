import { type PackedCriteria, packCriteria } from "../../logs/packedCriteria.ts";
import type { LogFilter } from "../parameters/logFilterParameter.ts";

/** A log filter on its way to the main thread, and there. */
export interface PackedLogFilter extends PackedCriteria, Pick<LogFilter, "from" | "to"> {}

export function packLogFilter(filter: LogFilter): PackedLogFilter {
  return { ...packCriteria(filter), from: filter.from, to: filter.to };
}
