/*
 * One approved action, two writers, an owner, a world that moves: consumption, intent, send, read-back, retry.
 *
 * A writer looks into the ledger, reads the resource's live version, and in one step consumes the approval and writes the intent. Then
 * it sends, with the idempotency key and the version that was approved as the owner's own precondition. Requests and replies may be
 * lost, and a request may arrive late. A writer may die between any two steps; another one starts over from the ledger. From `unknown`
 * only an authoritative negative read-back leads to another attempt, under the same key.
 *
 * Holds: at most one effect; none against a version that was not approved; the approval is spent at most once and never without an
 * intent; the ledger never says failed of an effect that is there, nor completed of one that is not.
 *
 * Each -DBUG_… puts one mistake in; spin finds a counterexample for each (test/models/spin.test.ts):
 *   BUG_SPLIT      consumption and intent are two steps
 *   BUG_NO_LOOKUP  a writer does not look into the ledger first, and the ledger's key is not unique
 *   BUG_NEW_KEY    a retry goes out under a new key
 *   BUG_BLIND      a lost reply is taken for a failure, without reading back
 *   BUG_NO_KEY     the owner does not deduplicate, and a read-back that cannot see a late request counts as authoritative
 *   BUG_NO_VERSION the approved version is not passed to the owner
 *   BUG_REUSE      the approval is looked at and not consumed
 */

#define APPROVED_VERSION 17
#define ATTEMPTS_MAX     2
#define CRASHES_MAX      2

mtype = { none, in_progress, unknown, not_started, completed, failed };
mtype = { applied, precondition_failed, lost };

/* Ledger and approval: one database. */
mtype row = none;
bool  approval_spent = false;
byte  spent_count = 0;
byte  intent_count = 0;
byte  attempts = 0;
byte  crashes = 0;
bool  locked = false;          /* the run lock: one writer at a time, handed on when its holder dies */

/* The owner of the resource. */
byte  version = APPROVED_VERSION;
byte  effects = 0;
bool  key_seen[3];

/* Requests on their way: key and the version they demand. */
chan wire = [2] of { byte, byte, byte };   /* connection, key, demanded version */
chan reply = [2] of { byte, mtype };       /* connection, answer */
byte connections = 0;

/* An answer on a connection that nobody listens on any more is gone. */
#define ANSWER(c, a) if :: nfull(reply) -> reply ! c, a :: full(reply) -> skip fi

proctype Owner() {
  byte conn, key, demanded;
end_idle:
  do
  :: wire ? conn, key, demanded ->
     atomic {
       if
#ifndef BUG_NO_KEY
       :: key_seen[key] -> ANSWER(conn, applied)
#endif
       :: else ->
          if
#ifndef BUG_NO_VERSION
          :: demanded != version -> ANSWER(conn, precondition_failed)
#endif
          :: else ->
             assert(version == APPROVED_VERSION);   /* nothing is written against a version that nobody approved */
             key_seen[key] = true;
             effects++;
             assert(effects <= 1);
             ANSWER(conn, applied)
          fi
       fi
     }
  :: wire ? conn, key, demanded -> ANSWER(conn, lost)   /* the request is lost on its way */
  od
}

/* Somebody else changes the record once. */
proctype World() {
end_still:
  atomic { effects == 0 -> version = APPROVED_VERSION + 1 }
}

inline die_maybe() {
  if
  :: crashes < CRASHES_MAX -> atomic { crashes++; locked = false; goto dead }
  :: skip
  fi
}

inline no_answer() {
#ifdef BUG_BLIND
  row = failed
#else
  row = unknown
#endif
}

inline read_back() {
  /* What the owner says of our key; authoritative, since it also refuses the key from now on when it has not seen it. */
  atomic {
    if
    :: effects > 0 -> row = completed
    :: effects == 0 ->
#ifndef BUG_NO_KEY
       /* A late request can still arrive: only an owner that has nothing of ours on the wire can say no. */
       if
       :: len(wire) == 0 -> row = not_started
       :: else -> row = unknown
       fi
#else
       row = not_started
#endif
    fi
  }
}

/* The saved approval request is sent again, for a second action under another key. */
proctype Replay() {
end_refused:
#ifdef BUG_REUSE
  atomic { row == completed -> spent_count++; assert(spent_count <= 1) }
#else
  atomic { row == completed && !approval_spent -> spent_count++; assert(spent_count <= 1) }
#endif
}

proctype Writer() {
  byte seen_version;
  byte key, conn;
  mtype got;
again:
  atomic { !locked -> locked = true; assert(!approval_spent || intent_count == 1) };
  /* 1. The ledger first. */
#ifndef BUG_NO_LOOKUP
  if
  :: row == completed || row == failed -> goto over
  :: row == in_progress || row == unknown -> die_maybe(); read_back(); die_maybe()
  :: else -> skip
  fi;
  if
  :: row == completed -> goto over
  :: row == unknown -> goto over                    /* a person's or a later query's */
  :: else -> skip
  fi;
#endif
  /* 2. Live read. */
  seen_version = version;
  if
  :: seen_version != APPROVED_VERSION && row == none -> goto over          /* stale: a new proposal is needed */
  :: seen_version != APPROVED_VERSION && row == not_started -> row = failed; goto over
  :: else -> skip
  fi;
  die_maybe();
  /* 3. One transaction: approval, intent, frozen bytes. */
#ifdef BUG_SPLIT
  if
  :: row == none ->
     atomic { !approval_spent -> approval_spent = true; spent_count++ };
     die_maybe();
     atomic { row = in_progress; intent_count++ }
  :: else -> row = in_progress
  fi;
#else
  atomic {
    if
#ifdef BUG_REUSE
    :: row == none -> row = in_progress; intent_count++; spent_count++
#else
    :: row == none && !approval_spent -> approval_spent = true; spent_count++; row = in_progress; intent_count++
#endif
    :: row == not_started && attempts < ATTEMPTS_MAX -> row = in_progress
#ifdef BUG_NO_LOOKUP
    :: row == in_progress || row == completed -> row = in_progress
#endif
    :: else -> goto over
    fi
  };
#endif
  assert(spent_count <= 1);
  die_maybe();
  /* 4. Send, with the key and the version that was approved. */
  attempts++;
#ifdef BUG_NEW_KEY
  key = attempts;
#else
  key = 1;
#endif
#ifdef BUG_NO_LOOKUP
  key = _pid % 3;
#endif
  atomic { connections++; conn = connections };
  wire ! conn, key, APPROVED_VERSION;
  die_maybe();
  /* 5. The reply, or none in time. */
  if
  :: reply ?? eval(conn), got ->
     if
     :: got == applied -> row = completed
     :: got == precondition_failed -> row = failed
     :: got == lost -> no_answer()
     fi
  :: no_answer()
  fi;
  die_maybe();
  if
  :: row == unknown -> read_back()
  :: else -> skip
  fi;
  if
  :: row == not_started && attempts < ATTEMPTS_MAX -> locked = false; goto again
  :: else -> goto over
  fi;
dead:
  goto again;                                        /* somebody else takes the run over */
over:
  assert(row != completed || effects == 1);
  assert(row != failed || effects == 0);
  assert(!approval_spent || intent_count == 1);
  locked = false
}

init {
  atomic { run Owner(); run World(); run Replay(); run Writer(); run Writer() }
}
