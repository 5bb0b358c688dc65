-- The state of all wikis. `@.` stands for the schema.

-- The versions of these tables, each with the digest of the statements that made it.
CREATE TABLE @.wikijs_gate_migration (
    number bigint PRIMARY KEY,
    digest bytea NOT NULL
);

-- The processes that hold something. One that is not renewed in time may be removed by others, and all that it held is free then.
CREATE TABLE @.holder (
    id bigint PRIMARY KEY,
    until timestamptz NOT NULL,
    lasts interval NOT NULL
);

CREATE TABLE @.lease (
    holder bigint NOT NULL REFERENCES @.holder ON DELETE CASCADE,
    number bigint NOT NULL,
    wiki text NOT NULL,
    name text NOT NULL,
    alone boolean NOT NULL,
    PRIMARY KEY (holder, number)
);
CREATE INDEX lease_by_name ON @.lease (wiki, name);

-- No two holders ever have one id, so a run whose holder is not there is held by nobody.
CREATE TABLE @.run (
    wiki text NOT NULL,
    name text NOT NULL,
    writer bigint NOT NULL,
    holder bigint,
    length bigint NOT NULL DEFAULT 0,
    changed timestamptz NOT NULL,
    PRIMARY KEY (wiki, name)
);

CREATE TABLE @.line (
    wiki text NOT NULL,
    run text NOT NULL,
    start bigint NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (wiki, run, start),
    FOREIGN KEY (wiki, run) REFERENCES @.run (wiki, name) ON DELETE CASCADE
);
-- Parts of it are read without the rest.
ALTER TABLE @.line ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE @.run_count (
    wiki text PRIMARY KEY,
    count text NOT NULL
);

CREATE TABLE @.blob (
    wiki text NOT NULL,
    name text NOT NULL,
    bytes bytea NOT NULL,
    changed timestamptz NOT NULL,
    PRIMARY KEY (wiki, name)
);
ALTER TABLE @.blob ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE @.document (
    wiki text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    bytes bytea NOT NULL,
    changed timestamptz NOT NULL,
    PRIMARY KEY (wiki, kind, name)
);

-- True if a holder may be removed. While the database itself was away nobody could be renewed, so time counts from its start on.
CREATE FUNCTION @.is_past(until timestamptz, lasts interval) RETURNS boolean LANGUAGE sql VOLATILE AS
    'SELECT greatest(until, pg_postmaster_start_time() + lasts) <= clock_timestamp()';

-- True if no pause is there. From now on until the end of this transaction none is written, and one that was is seen.
CREATE FUNCTION @.is_unpaused() RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('@.pause', 0));
    RETURN NOT EXISTS (SELECT FROM @.document WHERE wiki = '' AND kind = 'pause');
END $$;

-- True if a document of a kind may be changed: under no lease (0), or under one that its holder still has until then.
CREATE FUNCTION @.may_change(a_kind text, a_holder bigint, a_number bigint) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF a_kind = 'pause' THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('@.pause', 0));
    END IF;
    IF a_number = 0 THEN
        RETURN true;
    END IF;
    PERFORM FROM @.lease WHERE holder = a_holder AND number = a_number FOR KEY SHARE;
    RETURN FOUND;
END $$;

-- Gives a lease ('given'), or not ('held'); 'gone' if the holder was removed. A second call with the same number changes nothing.
CREATE FUNCTION @.try_lease(a_holder bigint, a_number bigint, a_wiki text, a_name text, is_alone boolean)
RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    -- Whatever follows sees what others did to this name before.
    PERFORM pg_advisory_xact_lock(hashtextextended('@.lease' || ' ' || a_wiki || ' ' || a_name, 0));
    PERFORM FROM @.holder WHERE id = a_holder FOR KEY SHARE;
    IF NOT FOUND THEN
        RETURN 'gone';
    END IF;
    IF EXISTS (SELECT FROM @.lease WHERE holder = a_holder AND number = a_number) THEN
        RETURN 'given';
    END IF;
    DELETE FROM @.holder
    WHERE id IN (SELECT holder FROM @.lease WHERE wiki = a_wiki AND name = a_name)
    AND id <> a_holder AND @.is_past(until, lasts);
    IF EXISTS (SELECT FROM @.lease WHERE wiki = a_wiki AND name = a_name AND (is_alone OR alone)) THEN
        RETURN 'held';
    END IF;
    INSERT INTO @.lease (holder, number, wiki, name, alone) VALUES (a_holder, a_number, a_wiki, a_name, is_alone);
    RETURN 'given';
END $$;
