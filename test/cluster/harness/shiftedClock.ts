/**
 * Options of Node.js that shift the process's wall clock ahead of the system clock by `aheadMs`, which may be negative.
 * Durations do not change. The clock is set right when the process gets SIGUSR2.
 */
export function shiftedClock(aheadMs: number): readonly string[] {
  const program = `
    const RealDate = Date;
    let aheadMs = ${aheadMs};
    process.on("SIGUSR2", () => { aheadMs = 0; });
    const nowMs = () => RealDate.now() + aheadMs;
    globalThis.Date = class Date extends RealDate {
      constructor(...args) { args.length === 0 ? super(nowMs()) : super(...args); }
      static now() { return nowMs(); }
    };`;
  return ["--import", `data:text/javascript,${encodeURIComponent(program)}`];
}
