import type { FromThread, ToThread } from "../protocol.ts";

/** What a thread is told of which only the newest counts: the head was shown, a status of syncing, what callers may do. */
export type Notice = ToThread & { readonly kind: NoticeKind };
export type NoticeKind = (FromThread & { readonly kind: "worked" })["on"];

/** Notices of one kind that a thread may have before it. Beyond it, a newer one takes the place of the one that waits here. */
export const NOTICE_CREDIT = 8;

/** The main thread's side of one thread's notices; another one is needed when the thread starts again. */
export interface NoticeSource {
  tell(notice: Notice): void;
  /** The thread has worked on a notice of this kind. */
  worked(kind: NoticeKind): void;
}

/** Sends notices at once, or once the thread, which may be held up, has worked on earlier ones of their kind. */
export function createNoticeSource(post: (notice: Notice) => void): NoticeSource {
  const lines = new Map<NoticeKind, { sent: number; waiting: Notice | undefined }>();

  function tell(notice: Notice): void {
    const line = lines.get(notice.kind) ?? { sent: 0, waiting: undefined };
    lines.set(notice.kind, line);
    if (line.sent >= NOTICE_CREDIT) line.waiting = notice;
    else {
      line.sent++;
      post(notice);
    }
  }

  return {
    tell,
    worked(kind) {
      const line = lines.get(kind);
      if (line === undefined) return;
      line.sent--;
      const { waiting } = line;
      line.waiting = undefined;
      if (waiting !== undefined) tell(waiting);
    },
  };
}
